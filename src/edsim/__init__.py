"""EDSim-Bench: can a model of emergency-department visits be trusted as a simulator?

The same steps as the commands, as functions; each is imported when it is first asked for.

>>> import edsim
>>> cohort = edsim.open_cohort("C")  # doctest: +SKIP
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_WHERE = {
    "CohortSettings": "edsim.lab.build",
    "RolloutSettings": "edsim.lab.rollouts",
    "SOURCES": "edsim.sources",
    "SplitRule": "edsim.cohort.splits",
    "build_cohort": "edsim.lab.build",
    "census": "edsim.lab.census",
    "certify": "edsim.lab.certify",
    "check_cohort": "edsim.lab.check",
    "compare": "edsim.lab.compare",
    "diagnose": "edsim.lab.diagnose",
    "downstream": "edsim.lab.downstream",
    "export_meds": "edsim.lab.export",
    "kept_predictions": "edsim.lab.predictions",
    "kept_rollouts": "edsim.lab.references",
    "open_cohort": "edsim.lab.cohort",
    "predict": "edsim.lab.predictions",
    "read_census": "edsim.tables.census",
    "read_comparisons": "edsim.tables.comparisons",
    "read_downstream": "edsim.tables.downstream",
    "read_predictions": "edsim.lab.reading",
    "read_rollouts": "edsim.lab.reading",
    "read_sheet": "edsim.tables.scores",
    "roll_out": "edsim.lab.rollouts",
    "score": "edsim.lab.score_frame",
    "score_all": "edsim.lab.scores",
    "score_predictions": "edsim.lab.prediction_scores",
    "write_census": "edsim.tables.census",
    "write_comparisons": "edsim.tables.comparisons",
    "write_downstream": "edsim.tables.downstream",
    "write_predictions": "edsim.tables.predictions_file",
    "write_prefixes": "edsim.lab.export",
    "write_rollouts": "edsim.tables.rollouts_file",
    "write_sheet": "edsim.tables.scores",
}

__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'edsim' has no attribute '{name}'")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
