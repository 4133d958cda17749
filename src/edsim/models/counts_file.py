"""A count model on disk: one .npz of its sorted transitions, without pickle.

Only the longest contexts are stored, every gap once; reading compiles the model again. Gaps are
stored as differences within their pair of context and event, in the record's own unit, exactly.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim import __version__
from edsim.errors import BadTableError
from edsim.models.contexts import ContextTable, Ints
from edsim.models.count_models import COUNT_MODELS
from edsim.models.counts import CountModel
from edsim.models.gap_units import Gaps
from edsim.tables.whole_file import whole_file

FORMAT = 1

_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedOn:
    """Which events a model was fitted on, so that it is not used for others by mistake."""

    vocabulary: str
    vocabulary_sha256: str
    content_hash: str
    code_version: str = __version__


def save_counts(
    model: CountModel, path: Path, fitted_on: FittedOn, *, restricted: bool = True
) -> None:
    """Write the file; it is there whole or not at all."""
    table = model.table
    with whole_file(path, restricted=restricted) as file:
        np.savez_compressed(
            file,
            allow_pickle=False,
            format=np.array(FORMAT),
            name=np.array(model.name),
            vocabulary=np.array(fitted_on.vocabulary),
            vocabulary_sha256=np.array(fitted_on.vocabulary_sha256),
            content_hash=np.array(fitted_on.content_hash),
            code_version=np.array(fitted_on.code_version),
            n_tokens=np.array(table.n_tokens),
            unit=np.array(table.unit),
            contexts=_small(table.contexts.T),
            n_events=_small(table.n_events),
            events=_small(table.events),
            counts=_small(table.counts),
            gap_steps=_small(_steps(table.gaps, table.counts)),
        )


def load_counts(path: Path) -> tuple[CountModel, FittedOn]:
    """Read a file written by `save_counts`; the model is compiled, ready to run."""
    name, table, fitted_on = _read(path)
    if name not in COUNT_MODELS or COUNT_MODELS[name].order != table.order:
        raise BadTableError(f"'{path.name}' holds no count model that this version knows.")
    return COUNT_MODELS[name].compile(table), fitted_on


def load_model(path: Path) -> CountModel:
    """The model alone: `python -m edsim.rollout --loader edsim.models.counts_file:load_model`."""
    return load_counts(path)[0]


def _read(path: Path) -> tuple[str, ContextTable, FittedOn]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if int(arrays["format"]) != FORMAT:
                raise BadTableError(
                    f"'{path.name}' was written in format {int(arrays['format'])} of count models; "
                    f"this version reads format {FORMAT}. Fit the model again."
                )
            counts = arrays["counts"].astype(np.int64)
            table = ContextTable(
                n_tokens=int(arrays["n_tokens"]),
                contexts=arrays["contexts"].T.astype(np.int16),
                n_events=arrays["n_events"].astype(np.int64),
                events=arrays["events"].astype(np.int16),
                counts=counts,
                gaps=_from_steps(arrays["gap_steps"], counts),
                unit=int(arrays["unit"]),
            )
            fitted_on = FittedOn(
                vocabulary=str(arrays["vocabulary"]),
                vocabulary_sha256=str(arrays["vocabulary_sha256"]),
                content_hash=str(arrays["content_hash"]),
                code_version=str(arrays["code_version"]),
            )
            _check_lengths(table)
            return str(arrays["name"]), table, fitted_on
    except _UNREADABLE as error:
        raise BadTableError(
            f"'{path.name}' cannot be read as a count model ({type(error).__name__}). "
            "Fit the model again."
        ) from None


def _check_lengths(table: ContextTable) -> None:
    n_pairs, n_gaps = int(table.n_events.sum()), int(table.counts.sum())
    if (len(table.contexts), len(table.events), len(table.counts), len(table.gaps)) != (
        len(table.n_events),
        n_pairs,
        n_pairs,
        n_gaps,
    ):
        raise ValueError("arrays of different lengths")


def _steps(gaps: Gaps, counts: Ints) -> Gaps:
    """Each gap less the one before it in its pair; a pair's first gap as it is."""
    steps = np.diff(gaps, prepend=np.int32(0))
    first = np.cumsum(counts) - counts
    steps[first] = gaps[first]
    return np.asarray(steps)


def _from_steps(steps: NDArray[np.integer], counts: Ints) -> Gaps:
    """The gaps again."""
    sums = np.cumsum(steps, dtype=np.int64)
    first = np.cumsum(counts) - counts
    gaps = sums - np.repeat(sums[first] - steps[first], counts)
    return np.asarray(gaps, dtype=np.int32)


def _small(values: NDArray[np.integer]) -> NDArray[Any]:
    """The same numbers, none negative, in the fewest bytes each."""
    return np.ascontiguousarray(values, dtype=np.min_scalar_type(int(values.max(initial=0))))
