"""Tables of the paper as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from edsim.studies.paper import writing
from edsim.studies.paper.as_csv import COLUMNS, csv_text
from edsim.studies.paper.as_latex import latex, text
from edsim.studies.paper.as_markdown import OUTSIDE, markdown
from edsim.tables.paper import Panel, PaperCell, PaperTable, PaperValue
from edsim.tables.paper_agreement import with_agreement


def value(printed: str, unit: str = "share") -> PaperValue:
    return PaperValue(
        label="tab:x", row="r", column="c", value=printed, population="MIMIC", unit=unit
    )


def table(*cells: PaperCell, missing: str = "") -> PaperTable:
    panel = with_agreement(Panel(title="A", cells=cells, missing=missing), comparable=False)
    return PaperTable(
        label="tab:x", title="A & B", panels=(panel,), comparable=False, data="Of 5 % of it."
    )


SIMPLE = (
    PaperCell(
        row="n-gram_3", column=">=10", ours=(0.5123,), low=0.4, high=0.6, theirs=value("0.43")
    ),
    PaperCell(row="GRU", column=">=10", ours=(0.7,), theirs=value("0.9")),
)


@pytest.mark.parametrize(
    ("number", "like", "written"),
    [
        (0.51234, "0.434", "0.512"),
        (0.00149, "0.31", "0.0015"),
        (8.1, "+1.4", "+8.1"),
        (-8.1, "+1.4", "-8.1"),
        (7945.0, "7,945", "7,945"),
        (0.0000045, "4.5x10^-6", "4.5x10^-6"),
        (0.0, "0.011", "0.000"),
        (0.0000099999, "0.0002", "1.0x10^-5"),
        (356.4, "356", "356"),
        (3.62, "136", "3.6"),
        (1.0, "1", "1"),
    ],
)
def test_numbers_have_the_papers_places_and_two_figures_at_least(
    number: float, like: str, written: str
) -> None:
    assert writing.number(number, value(like)) == written


def test_ranges_are_written_with_both_ends() -> None:
    cell = PaperCell(row="r", column="c", ours=(0.43, 0.96), theirs=value("0.36-0.44"))
    assert (writing.ours(cell), writing.theirs(cell)) == ("0.43 to 0.96", "0.36 to 0.44")
    assert writing.difference(cell) == ""


def test_markdown_shows_ours_the_papers_the_difference_and_the_verdict() -> None:
    page = markdown(table(*SIMPLE))
    assert "0.51 [0.40, 0.60]<br>paper 0.43 (+0.082) *same order*" in page
    assert "| &gt;=10 |" in page or "| >=10 |" in page
    assert ">=10 1 of 1." in page


def test_markdown_says_what_is_missing_and_why() -> None:
    gap = PaperCell(row="r", column="c", theirs=value("1"), note="run `edsim train gru`.")
    page = markdown(table(gap, missing="no external cohort."))
    assert "Not here: no external cohort." in page
    assert "Missing: run `edsim train gru`." in page


def test_latex_escapes_whatever_it_would_read() -> None:
    assert text("50 % of a_b & c#d $x {y} ~^\\ <|>") == (
        r"50 \% of a\_b \& c\#d \$x \{y\} \textasciitilde{}\textasciicircum{}"
        r"\textbackslash{} \textless{}\textbar{}\textgreater{}"
    )
    assert text("4.5x10^-6") == r"$4.5\times10^{-6}$"
    assert text("-7.9 and n-gram-3") == "$-$7.9 and n-gram-3"


def test_latex_is_booktabs_with_a_line_of_the_papers_numbers() -> None:
    made = latex(table(*SIMPLE))
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:x-again}", r"A \& B"):
        assert part in made
    assert r"n-gram\_3 & 0.51 \scriptsize [0.40, 0.60] \\" in made
    assert r"\quad\scriptsize paper & \scriptsize 0.43 (same order) \\" in made
    assert made.count("{") == made.count("}")


def test_a_panel_longer_than_a_page_goes_on_and_a_wide_one_is_made_to_fit() -> None:
    long = [PaperCell(row=f"row {k}", column="c", ours=(k / 7,)) for k in range(50)]
    wide = [PaperCell(row="r", column=f"c{k}", ours=(k / 7,)) for k in range(9)]
    made = latex(
        PaperTable(
            label="tab:x",
            title="T",
            panels=(Panel(cells=tuple(long)), Panel(title="W", cells=tuple(wide))),
            comparable=False,
            data="",
        )
    )
    floats = made.split(r"\begin{table}")[1:]
    assert [one.count("row ") for one in floats] == [24, 24, 2, 0]
    assert [one.count(r"\label") for one in floats] == [1, 0, 0, 0]
    assert [r"\resizebox" in one for one in floats] == [False, False, False, True]
    assert r"\caption{T (continued).}" in floats[1] and r"\caption{T, W.}" in floats[3]
    assert made.count("{") == made.count("}")


def test_a_number_outside_its_interval_is_explained() -> None:
    inside = PaperCell(row="r", column="c", ours=(0.5,), low=0.4, high=0.6)
    assert OUTSIDE not in markdown(table(inside))
    assert OUTSIDE in markdown(table(replace(inside, low=0.55)))


def test_csv_says_why_a_panel_is_not_there() -> None:
    made = csv_text(table(missing='there is no external cohort: "MC-MED", say.'))
    (line,) = csv.DictReader(io.StringIO(made))
    assert line["note"] == 'there is no external cohort: "MC-MED", say.'
    assert (line["table"], line["panel"], line["row"], line["ours"]) == ("tab:x", "A", "", "")


def test_csv_has_one_line_a_number() -> None:
    read = list(csv.DictReader(io.StringIO(csv_text(table(*SIMPLE)))))
    assert list(read[0]) == list(COLUMNS) and len(read) == 2
    assert read[0]["row"] == "n-gram_3" and float(read[0]["difference"]) == pytest.approx(0.0823)
    assert read[0]["agreement"] == "same order" and read[0]["paper_population"] == "MIMIC"
