"""What a rollout may be asked for. No torch: processes and files are held to it, too."""

from __future__ import annotations

from edsim.errors import BadInputError

MOST = {"cap": 65_535, "draws": 65_535}
"""Far beyond any visit; of more, neither time nor memory is enough."""


def refuse_settings(**settings: int) -> None:
    """Raise unless there is something to generate, and not without end."""
    for name, value in settings.items():
        if value < 1:
            raise BadInputError(f"{name} must be at least 1; it is {value}.")
        if value > MOST.get(name, value):
            raise BadInputError(f"{name} must be at most {MOST[name]:,}; it is {value:,}.")
