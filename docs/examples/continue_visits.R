# Continue visits in R and write the rollouts as Parquet.
#
#   Rscript continue_visits.R prefixes.csv COHORT/encoded/ed7/vocabulary.json mine.rollouts.parquet
#
# Packages: arrow, jsonlite. The model is a placeholder: replace `continue_visit`.

library(arrow)
library(jsonlite)

arguments <- commandArgs(trailingOnly = TRUE)
prefixes <- read.csv(arguments[1], colClasses = c(stay_id = "character"))  # ids are text
names_of_tokens <- fromJSON(arguments[2])$tokens  # in the order of their numbers, from 0
cap <- 128L

token <- function(activity) match(activity, names_of_tokens) - 1L  # R counts from 1

# What follows a prefix: a data frame of activities and of the minutes before each of them.
continue_visit <- function(prefix) {
  last <- prefix$activity[nrow(prefix)]
  if (last == "Discharge from the ED") {
    return(data.frame(activity = "END", minutes = 0))
  }
  n_checks <- rgeom(1, 0.4)
  data.frame(
    activity = c(rep("Vital sign check", n_checks), "Discharge from the ED", "END"),
    minutes = c(rexp(n_checks, 1 / 70), rexp(1, 1 / 90), 0)
  )
}

set.seed(1)
launch <- paste(prefixes$stay_id, prefixes$prefix_length)
launches <- split(prefixes, factor(launch, unique(launch)))
suffixes <- lapply(launches, function(prefix) head(continue_visit(prefix), cap))

first_rows <- prefixes[!duplicated(launch), ]
rollouts <- arrow_table(
  stay_id = first_rows$stay_id,
  prefix_length = first_rows$prefix_length,
  draw = rep(0L, length(suffixes)),
  tokens = unname(lapply(suffixes, function(suffix) token(suffix$activity))),
  minutes = unname(lapply(suffixes, function(suffix) as.numeric(suffix$minutes))),
  stop = unname(ifelse(
    vapply(suffixes, function(suffix) tail(suffix$activity, 1) == "END", logical(1)),
    "end", "cap"
  ))
)

# Who made the table, under which vocabulary; edsim fills in the rest from the cohort.
header <- list(
  schema_version = 1L, producer = "R: vital signs and home", cap = cap, draws = 1L, seed = 1L,
  tokens = names_of_tokens
)
rollouts$metadata <- list(edsim.rollouts = as.character(toJSON(header, auto_unbox = TRUE)))
write_parquet(rollouts, arguments[3])
