"""`edsim synthetic`: the synthetic emergency department as raw files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from edsim.cli.console import console
from edsim.cli.progress import shown_progress
from edsim.sources.synthetic import LAYOUTS, SyntheticOptions

MARK = "SYNTHETIC.txt"
"""Stands beside the raw files: synthetic ones are never taken for real ones, nor replace them."""

synthetic = App(name="synthetic", help="Write the synthetic emergency department as raw files.")


_DEFAULTS = SyntheticOptions()


@synthetic.command
def write(
    options: Annotated[SyntheticOptions, Parameter(name="*")] = _DEFAULTS,
    *,
    layout: Literal["mimic", "mcmed"],
    out: Path,
    overwrite: bool = False,
) -> None:
    """Write synthetic visits in the files of a real data set, to try a pipeline without any access.

    Parameters
    ----------
    layout
        mimic: MIMIC-IV-ED tables, MIMICEL and the hosp patients table; mcmed: the MC-MED files.
    out
        Directory to make. It is there whole or not at all.
    overwrite
        Replace the directory if it is there.
    """
    from edsim.lab.directory import whole_directory
    from edsim.privacy import set_permissions

    whole = whole_directory(out, overwrite=overwrite, known_by=MARK)
    with shown_progress() as progress, whole as directory:
        LAYOUTS[layout](directory, options, progress)
        (directory / MARK).write_text(
            f"Synthetic visits in the files of {layout}, drawn by `edsim synthetic write`.\n"
            "No row comes from a patient.\n",
            encoding="utf-8",
        )
        set_permissions(directory, restricted=False)
    console.print(f"Written to {out}", markup=False, soft_wrap=True)
