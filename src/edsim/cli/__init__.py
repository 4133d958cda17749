"""The command `edsim`: parse, call, print. Exit codes: 0 done, 1 a check failed, 2 the input or the
surroundings are at fault, 70 a fault of edsim, 130 interrupted.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import NoReturn

from cyclopts import App, CycloptsError, Parameter

from edsim import __version__
from edsim.cli.bench import bench
from edsim.cli.board import board
from edsim.cli.census import census
from edsim.cli.cohort import cohort
from edsim.cli.compare import compare
from edsim.cli.diagnose import diagnose
from edsim.cli.downstream import downstream
from edsim.cli.paper import paper
from edsim.cli.predict import predict
from edsim.cli.quickstart import quickstart
from edsim.cli.report import report
from edsim.cli.rollout import check, rollout, rollouts
from edsim.cli.score import score
from edsim.cli.study import study
from edsim.cli.synthetic import synthetic
from edsim.cli.train import train
from edsim.errors import EdsimError, MissingExtraError

INTERRUPTED = 130
OPTIONAL = {"torch": "models", "r4pm": "xes", "meds": "meds", "ray": "ray"}
"""Packages that an extra brings, and which."""

app = App(
    name="edsim",
    help=(
        "Find out whether a model of emergency-department visits can be trusted as a simulator.\n\n"
        "Start with: edsim quickstart"
    ),
    version=__version__,
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,  # `run` says that nothing half-written was kept
)
for command in (
    quickstart,
    cohort,
    train,
    rollout,
    rollouts,
    predict,
    check,
    score,
    compare,
    diagnose,
    study,
    census,
    report,
    downstream,
    paper,
    board,
    synthetic,
    bench,
):
    app.command(command)


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _interrupt)
    sys.unraisablehook = _ask_again
    code = run(sys.argv[1:])
    if code == INTERRUPTED:
        _forget_where_it_was_interrupted()
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code; a message stands on standard error."""
    # the list of commands is single lines: no Markdown has to be read, which takes time to import
    app.help_format = "plaintext" if arguments[:1] in ([], ["--help"], ["-h"]) else "markdown"
    try:
        code = app(
            arguments,
            exit_on_error=False,
            print_error=True,
            help_on_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()
    except CycloptsError:
        return 2
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            _report_fault(error)
            return 70
        _say(str(MissingExtraError(error.name, OPTIONAL[error.name], "this command")))
        return 2
    except EdsimError as error:
        _say(str(error))
        return 2
    except KeyboardInterrupt:
        _say("interrupted; nothing half-written was kept.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        _report_fault(error)
        return 70
    return code if isinstance(code, int) else 0


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """A polite request to stop ends like Ctrl-C: what is half-written is taken away."""
    raise KeyboardInterrupt


def _ask_again(lost: sys.UnraisableHookArgs) -> None:
    """An interrupt that came while a library was called back or cleaned up, and was passed over
    there, comes again a moment later."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, 0.05)
    else:
        sys.__unraisablehook__(lost)


def _forget_where_it_was_interrupted() -> None:
    """Python ends itself by SIGINT if an interrupt ever left code that a library had it run, even
    though it was caught further out. Code that runs well makes it forget."""
    ctypes.pythonapi.PyRun_SimpleString(b"pass")


def _say(text: str) -> None:
    print(f"edsim: {text}", file=sys.stderr)


def _report_fault(error: Exception) -> None:
    """Where a fault lies, without its message: that could hold a row of the data."""
    if os.environ.get("EDSIM_TRACEBACK"):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "edsim" in Path(frame.filename).parts] or frames
    place = f"{Path(ours[-1].filename).name}, line {ours[-1].lineno}"
    _say(
        f"a fault of edsim itself: {type(error).__name__} in {place}. Please report it with the "
        "command you ran. EDSIM_TRACEBACK=1 shows more, which may include data: look before you "
        "share it."
    )
