"""`edsim report`: one page from a folder of scores, figures for papers, a bundle to share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from edsim.cli.console import console

if TYPE_CHECKING:
    from edsim.report.material import Material
    from edsim.report.page import Page


def report(
    folder: Path,
    /,
    *,
    out: Path | None = None,
    figures: Path | None = None,
    share: Path | None = None,
    vocabulary: str = "",
    launches: str = "",
    overwrite: bool = False,
) -> None:
    """One self-contained HTML page from a folder of scores, as `edsim score --out` writes it.

    Parameters
    ----------
    folder
        Holds *.scores.json files of one cohort, and what else there is: comparisons.json,
        *.visits.json, scores of predictions.
    out
        The page; report.html in the folder where it is left out.
    figures
        Also every chart as SVG, PDF, PNG and Vega-Lite, in this folder.
    share
        Also a zip file that may be passed on: aggregates only, no cell of fewer than ten subjects,
        with a list of what it contains.
    vocabulary
        Of scores under several vocabularies: this one; else the one with most producers.
    launches
        Of scores of several launch sets: this one; else the one with most producers.
    overwrite
        Replace files that are there.
    """
    from edsim.errors import OutputError
    from edsim.report.figures import write_figures
    from edsim.report.material import read_material
    from edsim.report.page import page_of, write_page
    from edsim.report.share import write_bundle

    place = out or folder / "report.html"
    there = [path for path in (out, share, figures) if path is not None and path.exists()]
    if there and not overwrite:
        raise OutputError(f"'{there[0]}' is already there. Choose another place, or --overwrite.")
    material = read_material(folder, vocabulary=vocabulary, launches=launches)
    page = page_of(material)
    size = write_page(page, place, restricted=material.restricted)
    _say_what_it_shows(material, page)
    _tell(f"Written to {place} ({size / 1e6:.1f} MB, opens offline)")
    if figures is not None:
        drawn = write_figures(page.figures, figures, restricted=material.restricted)
        _tell(f"Written to {figures}: {len(drawn)} figures as SVG, PDF, PNG and Vega-Lite")
    if share is not None:
        contents = write_bundle(material, share)
        _tell(f"Written to {share}, which may be passed on:")
        for one in contents:
            _tell(f"  {one.name}: {one.says} ({len(one.data) / 1e3:,.0f} kB)")


def _say_what_it_shows(material: Material, page: Page) -> None:
    """The finding, and what is missing with the reason, as on the page."""
    console.print(page.finding, markup=False, highlight=False)
    for figure in page.figures:
        if figure.spec is None:
            console.print(f"  {figure.title}: {figure.missing}", markup=False, style="dim")
    if page.viewer_absent:
        console.print(f"  Visit by visit: {page.viewer_absent}", markup=False, style="dim")
    for said in material.left_out:
        console.print(f"  Not shown: {said}", markup=False, style="dim")


def _tell(text: str) -> None:
    console.print(text, markup=False, soft_wrap=True, highlight=False)
