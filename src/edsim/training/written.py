"""What is written beside a checkpoint: its model card, and its losses as JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

from edsim.models.neural.card import card_of
from edsim.models.neural.checkpoint import Manifest
from edsim.tables.whole_file import whole_file


def write_beside(manifest: Manifest, checkpoint: Path) -> None:
    """`NAME.md` and `NAME.log.jsonl` beside `NAME.npz`."""
    stem = checkpoint.name.removesuffix(".npz")
    lines = "".join(json.dumps(line) + "\n" for line in manifest.epochs)
    texts = {f"{stem}.md": card_of(manifest), f"{stem}.log.jsonl": lines}
    for name, text in texts.items():
        with whole_file(checkpoint.with_name(name), restricted=manifest.restricted) as file:
            file.write(text.encode())
