"""A vocabulary as a file says it, found by name or path, and made ready for the data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edsim.encoding.vocabulary import files
from edsim.encoding.vocabulary.files import PACKAGED, packaged_names
from edsim.encoding.vocabulary.fit import Split, most_frequent
from edsim.encoding.vocabulary.places import near
from edsim.encoding.vocabulary.rules import Rule, plain
from edsim.encoding.vocabulary.vocabulary import Vocabulary
from edsim.errors import BadVocabularyError

if TYPE_CHECKING:
    import polars as pl


def load(name_or_path: str | Path) -> Specification:
    """A vocabulary of the package by name, or of one's own by the path of its `.toml` file."""
    text = str(name_or_path)
    if isinstance(name_or_path, str) and text in packaged_names():
        return Specification(text, files.read(PACKAGED / f"{text}.toml"))
    path = Path(name_or_path)
    if path.suffix != ".toml" and len(path.parts) <= 1:
        raise BadVocabularyError(
            f"there is no vocabulary '{text}'{near(text, packaged_names())}. "
            f"Packaged: {', '.join(packaged_names())}; or give the path of a .toml file."
        )
    written = files.read(path)
    if path.stem in packaged_names() and path.resolve().parent != PACKAGED.resolve():
        raise BadVocabularyError(
            f"{path.name}: '{path.stem}' is the name of a packaged vocabulary, and tables would "
            "say so. Give the file another name."
        )
    return Specification(path.stem, written)


@dataclass(frozen=True, slots=True)
class Specification:
    """A vocabulary as written, before anything is learned from data."""

    name: str
    written: files.Written

    @property
    def needs_data(self) -> bool:
        """Whether `resolve` needs the training split."""
        return bool(self.written.fits)

    def resolve(
        self, training: pl.DataFrame | None = None, *, discharges: tuple[str, ...] = ()
    ) -> Vocabulary:
        """The vocabulary itself.

        `training` has one row per distinct (activity, detail, flag) of the training split and its
        number of rows, `n`. `discharges` are activities that are discharges, where the file cannot
        know: tokens that stand for nothing else are marked, whatever the file marks.
        """
        written = self.written
        tokens = list(written.tokens)
        splits: list[Split] = []
        if written.fits:
            if training is None:
                raise BadVocabularyError(
                    f"vocabulary '{self.name}' is fitted on the training split, which is not here."
                )
            base = Vocabulary(self.name, written.tokens, written.discharges, written.rules)
            kinds = base.assign(training)
            for wanted in written.fits:
                always = discharges if wanted.by == "activity" else ()
                splits.append(most_frequent(wanted, kinds, tokens, always))
        marked = set(written.discharges) | _only_of(discharges, written.rules)
        for split in splits:
            for (of, value), token in split.tokens.items():
                if of in marked or (split.by == "activity" and value in discharges):
                    marked.add(token)
        return Vocabulary(
            self.name, tuple(tokens), tuple(sorted(marked)), written.rules, tuple(splits)
        )


def _only_of(activities: tuple[str, ...], rules: tuple[Rule, ...]) -> set[int]:
    """Tokens all of whose rules are limited to these activities by name."""
    names = {plain(a) for a in activities}

    def limited(rule: Rule) -> bool:
        condition = rule.conditions.get("activity")
        return (
            condition is not None
            and not (condition.prefix or condition.keyword or condition.missing)
            and {plain(v) for v in condition.exact} <= names
        )

    others = {rule.token for rule in rules if not limited(rule)}
    return {rule.token for rule in rules} - others
