"""How large the paper is made: `smoke` touches every table, `laptop` takes a night."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from edsim.errors import BadInputError
from edsim.studies.runs import Role

LARGER = ("transformer_large", "causal_transformer_all_medium")
LARGEST = "causal_transformer_all_large"
"""Recipes of the table on network size: at every scale two sizes above that of the others."""
OF_LARGE_BATCHES = "causal_transformer_all_b1024"
"""The paper's control of the batch size: four times that of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Sizes of everything; names of producers, rules and tables are the same at every scale."""

    name: str
    says: str
    """What its numbers are of, but for the launches."""
    says_launches: str
    sample: str
    """Launch set where the paper takes its matched sample of 100,000."""
    whole: str
    """Launch set where the paper takes all prefixes of the test split."""
    open_loop_sample: str
    """Launch set where the paper takes its sample of 30,000."""
    resamples: int
    seeds: Mapping[str, int] = field(default_factory=dict)
    """Most training seeds of a recipe; all of the paper's where it is not named."""
    most_seeds: int = 7
    sizes: Mapping[str, Any] = field(default_factory=dict)
    """What is changed of every recipe."""
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What is changed instead of some recipes: larger networks, the control of the batch size."""
    external_sample: str = "matched-100k"
    external_cap: int | None = None
    """The external cohort's own where it is None."""
    says_external: str = ""
    """Its launches on the external cohort, where they are others."""
    workers: int = 1
    """Processes that share the work where nobody says how many, if there are processors enough."""

    def changes(self, recipe: str) -> Mapping[str, Any]:
        """What is changed of a recipe."""
        return self.others.get(recipe, self.sizes)

    def sentence(self, cohort: Role = "main") -> str:
        """What it is, for a cohort's numbers."""
        launches = self.says_launches
        if cohort == "external" and self.says_external:
            launches = self.says_external
        return f"{launches}, {self.says}"

    def n_seeds(self, recipe: str) -> int:
        """How many training seeds of a recipe are run at most."""
        return self.seeds.get(recipe, self.most_seeds)


FULL = Scale(
    name="full",
    says="seeds and networks",
    says_launches="the paper: its launches",
    sample="matched-100k",
    whole="all",
    open_loop_sample="matched-30000",
    resamples=1_000,
)
LAPTOP = Scale(
    name="laptop",
    says="at most three seeds, networks of half the width, four epochs",
    says_launches="10,000 launches",
    sample="matched-10000",
    whole="matched-10000",
    open_loop_sample="matched-10000",
    resamples=500,
    most_seeds=3,
    sizes={"width": 64, "feedforward": 256, "epochs": 4},
    others={
        **{name: {"width": 128, "feedforward": 512, "epochs": 4} for name in LARGER},
        LARGEST: {"width": 256, "feedforward": 1024, "epochs": 4},
    },
    external_sample="matched-2000",
    says_external="2,000 launches",
    workers=2,
)
SMALL = {"width": 32, "layers": 1, "feedforward": 64, "epochs": 1, "batch_size": 128}
"""With batches this small one epoch of a small cohort is a hundred steps, and takes no longer."""
SMOKE = Scale(
    name="smoke",
    says="one or two seeds, networks of width 32 trained for one epoch: it shows that everything "
    "runs and nothing about any model",
    says_launches="300 launches",
    sample="matched-300",
    whole="matched-300",
    open_loop_sample="matched-300",
    resamples=50,
    most_seeds=1,
    seeds={"transformer": 2, "causal_transformer_all": 2, "decoder": 2},
    sizes=SMALL,
    others={
        **{name: SMALL | {"width": 64, "layers": 2, "feedforward": 128} for name in LARGER},
        LARGEST: SMALL | {"width": 96, "layers": 3, "feedforward": 192},
        OF_LARGE_BATCHES: SMALL | {"batch_size": 512},
    },
    external_sample="matched-60",
    external_cap=128,
    says_external="60 launches and at most 128 events a rollout",
    workers=4,
)

SCALES: dict[str, Scale] = {scale.name: scale for scale in (SMOKE, LAPTOP, FULL)}


def find_scale(name: str) -> Scale:
    """The scale of that name; the nearest is told where there is none."""
    if name in SCALES:
        return SCALES[name]
    near = difflib.get_close_matches(name, SCALES, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise BadInputError(f"there is no scale '{name}': {', '.join(SCALES)}.{hint}")
