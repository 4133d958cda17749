"""The loop to certify: an argument, so that a harness of one's own is certified like ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from edsim.conformance.launching import Scene
from edsim.conformance.repeats import SEED, NoRollout, Run
from edsim.errors import EdsimError, raised
from edsim.models.protocol import Simulator
from edsim.rollout.decoding import BoundRule
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import Launches, Prefixes, Suffixes, Visits


class RollOutFast(Protocol):
    """The signature of `rollout.slots.roll_out_fast`."""

    def __call__(
        self,
        model: Simulator[Any],
        visits: Visits,
        launches: Launches,
        *,
        rule: BoundRule,
        cap: int,
        seed: int,
        slots: int,
    ) -> Suffixes: ...


class RollOut(Protocol):
    """The signature of `rollout.engine.roll_out`."""

    def __call__(
        self,
        model: Simulator[Any],
        prefixes: Prefixes,
        *,
        rule: BoundRule,
        cap: int,
        seed: int,
        draws: int = 1,
    ) -> Suffixes: ...


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop with the launches it is looked at on."""

    roll_out: RollOut
    fast: RollOutFast | None
    facts: VocabularyFacts
    scene: Scene
    rules: dict[str, BoundRule]
    """`vanilla` and every rule that is tried."""

    @property
    def prefixes(self) -> Prefixes:
        """What was seen at each launch."""
        return self.scene.prefixes

    def of(self, model: Simulator[Any], rule: str = "vanilla") -> Run:
        """The loop around a simulator; whatever is raised is told by its type."""

        def run(prefixes: Prefixes, *, cap: int, seed: int = SEED, draws: int = 1) -> Suffixes:
            with _told():
                return self.roll_out(
                    model, prefixes, rule=self.rules[rule], cap=cap, seed=seed, draws=draws
                )

        return run

    def in_slots(self, model: Simulator[Any], cap: int) -> Callable[[int], Suffixes] | None:
        """The fast loop around a simulator, where there is one to certify."""
        fast = self.fast
        if fast is None:
            return None

        def run(slots: int) -> Suffixes:
            with _told():
                return fast(
                    model,
                    self.scene.visits,
                    self.scene.launches,
                    rule=self.rules["vanilla"],
                    cap=cap,
                    seed=SEED,
                    slots=slots,
                )

        return run


@contextmanager
def _told() -> Iterator[None]:
    """Whatever is raised becomes `NoRollout`, told by its type, and by its words where ours."""
    try:
        yield
    except (Exception, SystemExit) as error:
        said = f": {error}" if isinstance(error, EdsimError) else ""
        raise NoRollout(f"the rollout {raised(error)}{said}") from error
