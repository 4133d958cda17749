"""Every table and figure of the paper, made of a small cohort in which count models stand in for
networks: what is tested is the tables and not what training comes to.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from edsim.errors import BadInputError
from edsim.lab.build import CohortSettings, build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.sources import SOURCES
from edsim.studies.cost import cost_of_graph
from edsim.studies.engine import Force
from edsim.studies.paper import book as books
from edsim.studies.paper import occupancy, per_seed
from edsim.studies.paper.as_csv import csv_text
from edsim.studies.paper.asking import asked_by
from edsim.studies.paper.beforehand import make_beforehand, pieces_of
from edsim.studies.paper.book import Book
from edsim.studies.paper.contents import PAPER, find_entries
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.making import make_table
from edsim.studies.paper.scales import FULL, SMOKE, Scale
from edsim.studies.paper.supervision_ladder import draw as draw_ladder
from edsim.studies.paper.values import paper_values, printed
from edsim.studies.paper.writing_out import write_table
from edsim.studies.results import Results
from edsim.studies.runs import Role, Run
from edsim.tables.paper import Panel, PaperTable
from edsim.tables.paper_agreement import line_orders
from edsim.tables.scores import ScoreRow

TINY = replace(
    SMOKE,
    sample="matched-150",
    whole="matched-150",
    open_loop_sample="matched-150",
    external_sample="matched-20",
    resamples=10,
)
FOR_WANT_OF_NETWORKS = (
    "does not guess how long",
    "does not draw the time",
    "is not trained",
    "regression heads",
    "no rollout ended",
    "a spread needs two seeds",
    "all of them equal",
    "group 'acuity ",
    "fewer than 100 rows",
    "this scale trains",
    "determine no recalibration",
)
"""Why a cell may be empty here: its model is a stand-in, or its launches are few."""
NO_RESULT = ("repeats", "target", "by construction")
"""Notes of those numbers of the paper that need no place of their own."""
FIGURES = [label for label in PAPER if label.startswith("fig:")]


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    folder = tmp_path_factory.mktemp("paper") / "C"
    settings = CohortSettings(vocabularies=("ed32", "ed7", "ed182"))
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=1_500), folder, settings=settings)
    return open_cohort(folder)


def stand_in(model: str, seed: int, scale: Scale) -> str:
    """A count model in place of a recipe, another one for another seed."""
    if model.startswith("blend:"):
        return "blend:0.5:markov+ngram:3"
    known = ("ngram:", "semi_markov")
    return model if model.startswith(known) else ("markov", "marginal")[seed % 2]


class Noting(Book):
    """Notes of which cohorts it is asked."""

    asked: set[Role]

    def run(self, model: str, **more: Any) -> Run:
        self.asked.add(more.get("cohort", "main"))
        return super().run(model, **more)

    def cohort(self, role: Role) -> Cohort:
        self.asked.add(role)
        return super().cohort(role)


@pytest.fixture(scope="module")
def made(cohort: Cohort) -> dict[str, tuple[PaperTable, set[Role]]]:
    """Every table, and the cohorts its panels ask."""
    book, found = Noting(Results(cohort), TINY), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(books, "producer_of", stand_in)
        for label, entry in PAPER.items():

            def panels(some: Book, entry: Entry = entry) -> list[Panel]:
                book.asked = set()
                return entry.panels(some)

            book.asked = set()
            found[label] = make_table(replace(entry, panels=panels), book), book.asked
    return found


@pytest.fixture(scope="module")
def tables(made: dict[str, tuple[PaperTable, set[Role]]]) -> dict[str, PaperTable]:
    return {label: table for label, (table, _) in made.items()}


def test_every_entry_names_the_cohorts_that_its_numbers_are_of(
    made: dict[str, tuple[PaperTable, set[Role]]],
) -> None:
    for label, (_, asked) in made.items():
        assert asked == {PAPER[label].cohort, *PAPER[label].beside}, label


@pytest.mark.parametrize("label", PAPER)
def test_every_table_can_be_made_and_has_its_numbers(
    label: str, tables: dict[str, PaperTable]
) -> None:
    table = tables[label]
    assert table.panels and all(panel.cells for panel in table.panels)
    for cell in table.cells:
        excused = any(reason in cell.note for reason in FOR_WANT_OF_NETWORKS)
        assert cell.ours or excused, (cell.row, cell.column, cell.note)
    assert not table.comparable and "only the pattern can be compared" in table.data


def test_tables_have_the_papers_numbers_beside_ours_and_a_verdict(
    tables: dict[str, PaperTable],
) -> None:
    closed = tables["tab:app-closed"].panels[0].cell("32-tok GRU PM", "RD")
    assert closed is not None and closed.theirs is not None and closed.theirs.value == "0.817"
    judged = [cell for table in tables.values() for cell in table.cells if cell.agreement]
    assert {cell.agreement for cell in judged} == {"same order", "undecided", "differs"}
    seeds = tables["tab:seed"].panels[0].cell("GRU (prefix)", "Seeds")
    assert seeds is not None and seeds.theirs is not None and seeds.agreement == ""


def test_seeds_that_a_scale_does_not_train_leave_the_papers_numbers(
    tables: dict[str, PaperTable],
) -> None:
    for label, of in (
        ("tab:app-seed", "tab:app-seed"),
        ("tab:mcmed", "tab:mcmed"),
        ("fig:perstep", "app:loops"),
        ("tab:app-seed", "app:seed"),
    ):
        shown = {cell.theirs for cell in tables[label].cells}
        results = [one for one in printed(of).values() if one.unit != "setting"]
        assert [one for one in results if one not in shown and "repeats" not in one.note] == []
    gru = tables["tab:app-seed"].panels[0].cell("GRU 7", "xF")
    assert gru is not None and gru.note == "this scale trains 1 seed" and gru.agreement == ""
    decoder = tables["tab:app-seed"].panels[0].cell("Decoder (all-pos.) 3", "xF")
    assert decoder is not None and decoder.note == "this scale trains 2 seeds"


def test_the_ladder_has_every_point_of_the_paper(tables: dict[str, PaperTable]) -> None:
    points = draw_ladder(tables["fig:ladder"]).specification["data"]["values"]
    theirs = [one for one in points if one["of"] == "paper"]
    assert len(theirs) == sum(column == "xF" for _, column in printed("tab:app-seed")) == 38


def test_the_plane_has_the_papers_process_mask_and_reference(
    tables: dict[str, PaperTable],
) -> None:
    found = {
        (panel.title, row, column): cell.theirs.value
        for panel in tables["fig:plane"].panels
        for row in ("Transformer: Process mask", "GRU: Process mask", "n-gram-3: n-gram-3")
        for column in ("Term.", "JSD")
        if (cell := panel.cell(row, column)) is not None and cell.theirs is not None
    }
    assert len(found) == 12
    assert found["7-token vocabulary", "Transformer: Process mask", "Term."] == "0.889"
    assert found["32-token vocabulary", "GRU: Process mask", "JSD"] == "0.056"
    assert found["32-token vocabulary", "n-gram-3: n-gram-3", "JSD"] == "0.0023"


class Told(Book):
    """Gives numbers by the start of the producer's name, and the measure."""

    def __init__(self, cohort: Cohort, numbers: dict[tuple[str, str], ScoreRow]) -> None:
        super().__init__(Results(cohort), SMOKE)
        self.numbers = numbers

    def score(self, run: Run, metric: str, **more: Any) -> ScoreRow:
        name = run.producer.partition("[")[0]
        return self.numbers.get((name, metric), ScoreRow(metric=metric, value=0.4))

    def score_with(self, run: Run, defect: str, metric: str) -> ScoreRow:
        return ScoreRow(metric=metric, value=None, note="not asked here")


def test_arms_that_end_reliably_are_those_that_do(cohort: Cohort) -> None:
    def ends(share: float) -> ScoreRow:
        return ScoreRow(metric="termination", value=share)

    numbers = {
        ("ngram:3", "termination"): ends(0.99),
        ("lstm", "termination"): ends(0.97),
        ("decoder", "termination"): ends(0.93),
        ("causal_transformer_all", "termination"): ends(0.96),
        ("transformer", "termination"): ends(0.95),
    }
    cells = occupancy.panels(Told(cohort, numbers))[2].cells
    found = {(c.row, c.column): (c.ours, c.theirs and c.theirs.value, c.note) for c in cells}
    distance = "|Dur. - 1|"
    assert found["n-gram-3 (full test)", distance] == (pytest.approx((0.6,)), "0.14", "")
    assert found["n-gram-3 (matched 100k)", distance] == (pytest.approx((0.6,)), None, "")
    assert found["LSTM", "MAE"] == ((0.4,), None, "")
    assert found["Causal all-position", "MAE"] == ((0.4,), "11.7", "")
    why = "ends in 0.930 of rollouts here, not above 0.95"
    assert found["Decoder", distance] == ((), "0.09", why)
    assert not {"Transformer", "GRU"} & {row for row, _ in found}


def test_intervals_that_are_not_there_are_said_so_and_not_counted(cohort: Cohort) -> None:
    row = "Matched seeds"
    plain = ScoreRow(metric="xf", value=2.0, note="no other stays can be drawn")
    clear = ScoreRow(metric="xf", value=2.0, low=1.0, high=3.0)
    far = ScoreRow(metric="xf", value=9.0, low=8.0, high=9.5)
    for causal, n, apart, note in ((plain, 0, (), plain.note), (clear, 2, (2.0,), "")):
        numbers = {("causal_transformer_all", "xf"): causal, ("decoder", "xf"): far}
        (panel,) = [p for p in per_seed.panels(Told(cohort, numbers)) if "Intervals" in p.title]
        cells = {c.column: c for c in panel.cells if c.row == row}
        assert cells["Run"].ours == (2.0,) and cells["With both intervals"].ours == (float(n),)
        assert cells["Intervals apart"].ours == apart and cells["Intervals apart"].note == note


def test_before_and_after_are_compared_with_each_other(tables: dict[str, PaperTable]) -> None:
    """In every panel of the audit that has ours and the paper's number for both."""
    compared = []
    for panel in tables["tab:app-harness"].panels:
        there = [c for c in panel.cells if c.ours and c.theirs]
        if len({(c.row, c.theirs.value) for c in there if c.theirs}) > len({c.row for c in there}):
            assert panel.along_rows
            assert sum(order.n_pairs for order in line_orders(panel).values()) > 0, panel.title
            compared.append(panel.title.partition(":")[0])
    assert "Remaining LOS over the prefix too" in compared and len(compared) > 3


def test_calibration_is_shown_before_and_after_it_was_mended(
    tables: dict[str, PaperTable],
) -> None:
    panels = {panel.title: panel for panel in tables["app:causal"].panels}
    columns = [
        f"{f}, {c}" for f in ("gaps", "elapsed alone") for c in ("as fitted", "recalibrated")
    ]
    for title in ("AUROC", "Brier score", "Calibration slope"):
        panel = panels[f"{title}, every landmark"]
        assert list(panel.columns) == columns and len(panel.rows) == 14
        assert any(cell.ours for cell in panel.cells if "recalibrated" in cell.column)


def test_every_result_of_the_paper_is_asked_for_beside_ours(
    cohort: Cohort, tables: dict[str, PaperTable]
) -> None:
    """At full scale, at which every training seed has its row; nothing is computed for that."""
    asking = asked_by([], Results(cohort), FULL)
    cells = [cell for entry in PAPER.values() for p in entry.panels(asking) for cell in p.cells]
    cells += [cell for table in tables.values() for cell in table.cells]
    assert len({run for run, _ in asking.sheets}) > 130
    shown = {cell.theirs for cell in cells if cell.theirs is not None}
    results = [one for one in paper_values() if one.unit != "setting"]
    alone = [one for one in results if not any(note in one.note for note in NO_RESULT)]
    assert len(alone) > 850
    assert [(one.label, one.row, one.column) for one in alone if one not in shown] == []


def test_what_is_asked_for_beforehand_is_all_that_tables_compute(
    cohort: Cohort, monkeypatch: pytest.MonkeyPatch, tables: dict[str, PaperTable]
) -> None:
    monkeypatch.setattr(books, "producer_of", stand_in)
    pieces = pieces_of(list(PAPER.values()), Results(cohort), TINY)
    kinds = {piece.asked.kind for piece in pieces.graph.pieces.values()}
    assert kinds == {"models", "rollouts", "scores", "predictions"}
    missing = [piece.title for piece in pieces.graph.wanted().values()]
    assert [title for title in missing if "stops_by_the_end_head" not in title] == []


def test_what_is_left_is_told_with_its_cost_before_it_is_made(
    cohort: Cohort, monkeypatch: pytest.MonkeyPatch, tables: dict[str, PaperTable]
) -> None:
    monkeypatch.setattr(books, "producer_of", stand_in)
    without_end_head = [entry for entry in PAPER.values() if entry.label != "tab:app-harness"]
    for scale, left in ((TINY, False), (replace(TINY, sample="matched-160"), True)):
        graph = pieces_of(without_end_head, Results(cohort), scale).graph
        cost = cost_of_graph("the paper", 1, graph, by_name=False)
        assert len({line.kind for line in cost.lines}) == len(cost.lines) == 4
        assert cost.unknown == 0 and (cost.seconds > 0) == left


def test_networks_alone_go_to_the_device_that_is_named(cohort: Cohort) -> None:
    asking = asked_by(list(PAPER.values()), Results(cohort), SMOKE, "cuda")
    asked = [*(run for run, _ in asking.sheets), *asking.predictions]
    by_device = {
        where: {one.producer.partition("[")[0] for one in asked if one.device == where}
        for where in ("cuda", "cpu")
    }
    assert {"transformer", "gru_all", "decoder"} <= by_device["cuda"]
    assert {"ngram:3", "semi_markov", "blend:0.5:transformer"} <= by_device["cpu"]
    assert by_device["cuda"].isdisjoint(by_device["cpu"])


def test_several_processes_come_to_the_same_tables_as_one(
    cohort: Cohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: dict[str, PaperTable]
) -> None:
    monkeypatch.setattr(books, "producer_of", stand_in)
    shutil.copytree(cohort.directory, tmp_path / "C", ignore=lambda *_: ["artifacts"])
    results, entries = Results(open_cohort(tmp_path / "C")), find_entries(["rich", "late"])
    assert make_beforehand(entries, results, TINY, Force(workers=2)) == {}
    made = {path.name for path in (tmp_path / "C" / "artifacts" / "scores").iterdir()}
    for entry in entries:
        table = make_table(entry, Book(results, TINY))
        assert csv_text(table) == csv_text(tables[entry.label])
    assert {path.name for path in (tmp_path / "C" / "artifacts" / "scores").iterdir()} == made


@pytest.mark.cluster
def test_a_cluster_comes_to_the_same_tables_as_one_process(
    cohort: Cohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ray.cluster_utils import Cluster

    monkeypatch.setattr(books, "producer_of", stand_in)
    shutil.copytree(cohort.directory, tmp_path / "C", ignore=lambda *_: ["artifacts"])
    results, entries = Results(open_cohort(tmp_path / "C")), find_entries(["late", "cap"])
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        cluster.add_node(num_cpus=1)
        assert make_beforehand(entries, results, TINY, Force(ray=cluster.address)) == {}
    finally:
        cluster.shutdown()
    assert not pieces_of(entries, results, TINY).graph.wanted()
    for entry in entries:
        alone = make_table(entry, Book(Results(cohort), TINY))
        assert csv_text(make_table(entry, Book(results, TINY))) == csv_text(alone)


def test_what_could_not_be_made_is_said_and_not_tried_again(cohort: Cohort) -> None:
    book = Book(Results(cohort), TINY)
    run = book.run("ngram:3")
    failed = Book(Results(cohort), TINY, {run: "memory ran out.", books.predictions_of(run): "no."})
    assert failed.score(run, "termination").note == "memory ran out."
    assert failed.where_all_end([run])[0].note == "memory ran out."
    assert failed.score_with(run, "with_the_prefix", "los_mae").note == "memory ran out."
    assert failed.open_loop(run, "accuracy").note == "no."
    assert failed.score(book.run("markov"), "termination").value is not None


def test_a_piece_that_fails_leaves_its_reason_in_the_table(
    cohort: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(books, "producer_of", lambda model, seed, scale: f"{model}.npz")
    (entry,) = find_entries(["rich"])
    results = Results(cohort)
    failed = make_beforehand([entry], results, TINY, Force(memory_gib=8))
    assert len(failed) >= 4
    table = make_table(entry, Book(results, TINY, failed))
    assert set(table.missing) == set(failed.values())


def test_a_cohort_that_is_not_there_leaves_the_command_that_makes_it(cohort: Cohort) -> None:
    coarse = {"ed7": cohort.manifest.vocabularies["ed7"]}
    real = replace(cohort.manifest, source="mimic", restricted=True, vocabularies=coarse)
    results = Results(Cohort(cohort.directory, real))
    for label, command in (
        ("tab:mcmed", "edsim cohort build mcmed --data MC-MED --out EXTERNAL"),
        ("app:ordercurve/temporal", "--split temporal --out TEMPORAL"),
    ):
        table = make_table(PAPER[label], Book(results, TINY))
        assert command in table.panels[0].missing and not table.cells
    assert "--vocabulary ed7 --vocabulary ed182" in results.absent("extended")


@pytest.mark.parametrize("label", FIGURES)
def test_figures_are_drawn_as_svg_pdf_and_png(
    label: str, tables: dict[str, PaperTable], tmp_path: Path
) -> None:
    written = write_table(tables[label], PAPER[label], tmp_path, restricted=False)
    stem = written.file.removesuffix(".md")
    endings = {path.suffix for path in tmp_path.glob(f"{stem}.*")}
    assert endings == {".md", ".tex", ".csv", ".svg", ".pdf", ".png"}
    svg = (tmp_path / f"{stem}.svg").read_text(encoding="utf-8")
    assert len(re.findall(r"aria-roledescription=\"(?:point|symbol|line mark)", svg)) > 3


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["core", "tab:occupancy"], ["tab:rich", "tab:seed", "tab:app-occupancy"]),
        (["tab:core"], ["tab:rich", "tab:seed"]),
        (["app-cov"], ["tab:app-cov"]),
        (["app-seed", "APP-DECR"], ["tab:app-decR", "tab:app-seed"]),
        (["seed"], ["tab:seed", "tab:app-seed"]),
        (["app-causal"], ["app:causal"]),
        (["figures"], FIGURES),
        ([], list(PAPER)),
    ],
)
def test_tables_are_found_by_label_and_by_short_names(names: list[str], labels: list[str]) -> None:
    assert [entry.label for entry in find_entries(names)] == labels


def test_of_an_unknown_name_the_nearest_is_told() -> None:
    for name in ("ocupancy", "app-ocupancy"):
        said = rf"no table '{name}'. Did you mean tab:app-occupancy"
        with pytest.raises(BadInputError, match=said):
            find_entries([name])
