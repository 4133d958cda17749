"""Continue visits with nothing but Python: a small table of what tends to come next.

    python plain_python.py prefixes.csv rollouts.csv

Reads what `edsim cohort launches COHORT --launches matched-1000 --csv --out prefixes.csv` writes
and continues every prefix once. The numbers are made up; put your own model into `continue_visit`.
"""

import csv
import random
import sys
from itertools import groupby

CAP = 128  # the cohort's; END counts

# after this event: (next event, how often, mean minutes until then)
NEXT = {
    "Enter the ED": [("Triage in the ED", 0.9, 1.0), ("Vital sign check", 0.1, 1.0)],
    "Triage in the ED": [("Vital sign check", 0.8, 15.0), ("Medicine reconciliation", 0.2, 30.0)],
    "Vital sign check": [
        ("Vital sign check", 0.45, 90.0),
        ("Medicine dispensations", 0.2, 40.0),
        ("Medicine reconciliation", 0.1, 60.0),
        ("Discharge from the ED", 0.25, 45.0),
    ],
    "Medicine reconciliation": [
        ("Medicine reconciliation", 0.85, 0.0),
        ("Vital sign check", 0.1, 60.0),
        ("Medicine dispensations", 0.05, 30.0),
    ],
    "Medicine dispensations": [
        ("Medicine dispensations", 0.4, 0.0),
        ("Vital sign check", 0.4, 40.0),
        ("Discharge from the ED", 0.2, 60.0),
    ],
    "Discharge from the ED": [("END", 1.0, 0.0)],
}


def continue_visit(events, chance):
    """What follows the events of a prefix: (activity, minutes since the event before it)."""
    activity = events[-1]["activity"]
    for _ in range(CAP):
        choices = NEXT[activity]
        weights = [weight for _, weight, _ in choices]
        activity, _, mean = chance.choices(choices, weights)[0]
        yield activity, chance.expovariate(1 / mean) if mean else 0.0
        if activity == "END":
            return


def main(prefixes, rollouts):
    """One continuation of every prefix."""
    with open(prefixes, newline="") as source, open(rollouts, "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["stay_id", "prefix_length", "draw", "position", "activity", "minutes"])
        launches = groupby(
            csv.DictReader(source), key=lambda row: (row["stay_id"], row["prefix_length"])
        )
        for (stay_id, prefix_length), events in launches:
            chance = random.Random(f"{stay_id} {prefix_length}")  # the same, in any order
            suffix = continue_visit(list(events), chance)
            for position, (activity, minutes) in enumerate(suffix, start=1):
                writer.writerow([stay_id, prefix_length, 0, position, activity, minutes])


if __name__ == "__main__":
    main(*sys.argv[1:])
