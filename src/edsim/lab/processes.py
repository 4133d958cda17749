"""A process, called: what it raises or returns that cannot be used is refused before it is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from edsim.errors import BadSimulatorError, EdsimError, raised
from edsim.tables.rollouts import RolloutsHeader
from edsim.tables.rollouts_rows import Rows
from edsim.tables.rollouts_suffix_check import suffix_faults
from edsim.tables.visits import END, Prefixes, Suffixes


def run_process(process: Any, prefixes: Prefixes, header: RolloutsHeader) -> Suffixes:
    """The rows of `prefixes`, each `draws` times; every row keeps the promises of a rollout."""
    try:
        rows = process(prefixes, cap=header.cap, draws=header.draws, seed=header.seed)
    except EdsimError:
        raise
    except (Exception, SystemExit) as error:
        raise BadSimulatorError(f"the process {raised(error)}.") from error
    problem = _problem(rows, len(prefixes) * header.draws, header)
    if problem:
        raise BadSimulatorError(
            f"what the process answered cannot be kept: {problem} `edsim check` tells all that "
            "is wrong with it."
        )
    return Suffixes(
        np.asarray(rows.tokens, dtype=np.int16),
        np.asarray(rows.minutes, dtype=np.float32),
        np.asarray(rows.offsets, dtype=np.int64),
    )


def _problem(rows: Any, n_rows: int, header: RolloutsHeader) -> str:
    """What is wrong first, in a sentence; "" where nothing is."""
    from edsim.conformance.process import malformed

    badly_formed = malformed(rows, len(header.tokens))
    if badly_formed:
        return f"{badly_formed}."
    if len(rows) != n_rows:
        return f"{len(rows)} rows where {n_rows} are expected, one a prefix and draw."
    faults = suffix_faults(_as_table(rows, header), len(header.tokens))
    return faults[0].sentence if faults else ""


def _as_table(rows: Suffixes, header: RolloutsHeader) -> Rows:
    """The rows by themselves, with nothing said of which launch they continue."""
    nothing = np.zeros(len(rows), dtype=np.int32)
    return Rows(
        header=header,
        ids=np.zeros(0, dtype=np.bytes_),
        stay=nothing,
        prefix_length=nothing,
        draw=nothing,
        tokens=rows.tokens,
        offsets=rows.offsets,
        minutes=rows.minutes,
        minutes_offsets=rows.offsets,
        ended=rows.tokens[rows.offsets[1:] - 1] == END,
    )
