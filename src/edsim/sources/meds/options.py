"""The flags of `edsim cohort build meds`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from edsim.errors import BadInputError


@dataclass(frozen=True)
class MedsOptions:
    """Where the dataset is, and what in it is a visit and an event."""

    directory: Path
    "The dataset: the folder that holds data/ and metadata/."
    _: KW_ONLY
    visit: str | None = None
    "Column that names the visit; stay_id, visit_id, encounter_id or csn without it."
    subject_is_visit: bool = False
    "Take every subject as one visit."
    activity: str | None = None
    "Column with the activity; what stands before the first // of the code without it."
    detail: str | None = None
    "Column with more about an event; what stands behind the first // of the code without it."
    flag: str | None = None
    "Column with a remark on an event, as text."
    discharge: tuple[str, ...] = ()
    "Activities that are discharges; repeat the flag for several."
    local_times: bool = False
    "Say that times are of the local clock, so that the time of day means something."

    def __post_init__(self) -> None:
        if self.visit is not None and self.subject_is_visit:
            raise BadInputError("--visit and --subject-is-visit exclude each other.")
