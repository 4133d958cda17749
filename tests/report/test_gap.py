"""The simulation gap: which pair is the finding, and that the opening picture shows it."""

from __future__ import annotations

from edsim.report.charts import opening, sections
from edsim.report.charts.census import census_figures
from edsim.report.charts.overview import gap
from edsim.report.entries import Entry, entries_of
from edsim.report.gap import simulation_gap
from report.made_up_report import census, predicted, sheet


def alike(**producers: tuple[float, float]) -> list[Entry]:
    """Producers of nearly the same accuracy, by event mix and duration."""
    return entries_of(
        [sheet(name, jsd=mix, duration=ratio) for name, (mix, ratio) in producers.items()],
        [predicted(name, 0.55 + 0.001 * n) for n, name in enumerate(producers)],
    )


def test_a_clock_that_is_five_times_too_fast_is_a_gap_although_the_events_are_right() -> None:
    found = simulation_gap(alike(timely=(0.002, 1.03), hasty=(0.003, 0.2)))
    assert found is not None
    assert (found.metric, found.far.label) == ("duration_ratio", "hasty")
    assert found.sentence == (
        "timely and hasty guess the next event almost equally often (55 % and 55 %), yet the "
        "visits that hasty generates are 80 % shorter than true ones, and those of timely 3 % "
        "longer."
    )


def test_too_long_is_as_wrong_as_too_short() -> None:
    found = simulation_gap(alike(short=(0.002, 0.5), long=(0.002, 2.0), right=(0.002, 1.0)))
    assert found is not None and found.near.label == "right"
    assert simulation_gap(alike(short=(0.002, 0.5), long=(0.002, 2.0))) is None


def test_a_factor_in_time_counts_as_much_as_its_square_in_divergence() -> None:
    in_mix = simulation_gap(alike(good=(0.001, 1.0), bad=(0.03, 0.2)))
    assert in_mix is not None and (in_mix.metric, round(in_mix.times)) == ("jsd", 30)
    in_time = simulation_gap(alike(good=(0.001, 1.0), bad=(0.02, 0.2)))
    assert in_time is not None and (in_time.metric, round(in_time.times)) == ("duration_ratio", 5)


def test_the_page_opens_with_the_picture_of_its_finding_and_keeps_the_other() -> None:
    in_time = alike(timely=(0.002, 1.03), hasty=(0.003, 0.2))
    first, names = opening(in_time), [one.name for one in sections(in_time)["Where they stand"]]
    assert first.name == "simulation-gap-in-time" and "dashed line is right" in first.says
    assert names[0] == "simulation-gap"
    in_mix = alike(good=(0.001, 1.0), bad=(0.02, 0.9))
    assert opening(in_mix).name == "simulation-gap"
    assert "simulation-gap" not in [one.name for one in sections(in_mix)["Where they stand"]]


def test_names_of_close_points_go_to_different_sides() -> None:
    spec = gap(alike(a=(0.002, 1.0), b=(0.0021, 0.9), far=(0.2, 0.5))).spec
    assert spec is not None
    below = {row["producer"]: row["_below"] for row in spec["datasets"]["rows"]}
    assert below == {"a": True, "b": False, "far": False}


def test_a_small_form_is_called_by_its_recipe_and_says_its_settings_beside() -> None:
    one, other = entries_of([sheet("gru[width=64,epochs=2]@1", seed=1), sheet("ngram:3")])
    assert (one.label, one.family, one.settings) == ("gru@1", "gru", "width 64, epochs 2")
    assert (other.label, other.settings) == ("ngram:3", "")
    (drawn,) = census_figures([census("gru[width=64,epochs=2]@1", "ngram:3")], [one, other])
    assert [value for value, _ in next(iter(drawn.choices.values()))] == ["gru@1", "ngram:3"]
    both = entries_of([sheet("gru[width=64]@1", seed=1), sheet("gru@1", seed=1)])
    assert {entry.label for entry in both} == {"gru[width=64]@1", "gru@1"}
    assert [entry.settings for entry in both] == ["", ""]
