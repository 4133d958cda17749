"""`edsim compare`: which of two producers is better at what, and what is mere chance."""

from __future__ import annotations

from pathlib import Path

from edsim.cli.console import console
from edsim.cli.progress import shown_progress


def compare(
    *producers: str,
    cohort: Path,
    launches: str = "matched-100k",
    draws: int = 1,
    metrics: str = "",
    resamples: int = 1_000,
    permutations: int = 2_000,
    json: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Compare producers pairwise on the same launches, stay by stay.

    Each measure gets the difference of losses (how far off a value is), its interval over resampled
    stays, the chance that exchanging the two producers' rollouts makes one as large, and the
    difference that so many stays would show four times in five. Headline measures are held against
    each other (Holm).

    Recipes are compared over training seeds: gru@1,gru@2,gru@3 joint@1,joint@2,joint@3.

    Parameters
    ----------
    producers
        Rollouts files of the cohort, or producers as in `edsim rollout`; at least three joined by
        commas are the training seeds of one recipe.
    cohort
        A cohort made by `edsim cohort build`.
    launches
        Of producers given by name: the launch set.
    draws
        Of producers given by name: continuations of each launch; proper scores need two or more.
    metrics
        These measures in place of the headline, by the names of docs/metrics.md, joined by commas.
    resamples
        Resamples of stays behind the intervals.
    permutations
        Exchanges of the two producers, stay by stay, behind the p-values.
    json
        A file for all that was found.
    overwrite
        Replace the file where it is there.
    """
    from edsim.cli.score import names_in
    from edsim.cli.show_comparisons import show_comparisons
    from edsim.errors import OutputError
    from edsim.lab.cohort import open_cohort
    from edsim.lab.compare import check_sides
    from edsim.lab.compare import compare as compared
    from edsim.lab.named import named_rollouts
    from edsim.metrics.registry import measures_named
    from edsim.tables.comparisons import write_comparisons

    groups = [names_in(name) for name in producers]
    check_sides([len(group) for group in groups])
    wanted = names_in(metrics) or None
    measures_named(wanted or [])
    if json is not None and json.exists() and not overwrite:
        raise OutputError(f"'{json}' is already there. Choose another place, or --overwrite.")
    opened = open_cohort(cohort)
    with shown_progress() as progress:
        sides = [
            [
                named_rollouts(opened, one, launches=launches, draws=draws, progress=progress)
                for one in group
            ]
            for group in groups
        ]
        found = compared(
            sides,
            opened,
            metrics=wanted,
            resamples=resamples,
            exchanges=permutations,
            progress=progress,
        )
    show_comparisons(console, found)
    if json is not None:
        write_comparisons(found, json)
        console.print(f"Written to {json}", markup=False, soft_wrap=True)
