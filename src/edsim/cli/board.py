"""`edsim board`: a leaderboard of score files, as a folder and as a static site."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from edsim.cli.console import console

board = App(
    name="board",
    help="Keep a leaderboard: a folder of score files, checked on entry, and its site.",
)


@board.command
def add(*scores: Path, board: Path = Path("board"), name: str = "") -> None:
    """Put score files on a board, all or none; what is never shared is taken out first.

    Parameters
    ----------
    scores
        Score files of `edsim score --json`, folders of them as of `edsim score --out`, or zip files
        of `edsim report --share`.
    board
        Folder of the board; begun where there is none.
    name
        Name of the entry's file, such as your-group-gru; by default after the producer.
    """
    from edsim.errors import BadInputError
    from edsim.leaderboard.collection import ENTRIES
    from edsim.leaderboard.collection import add as add_to

    if not scores:
        raise BadInputError("name what is to be added: score files, folders, or share bundles.")
    for entry in add_to(scores, board, name=name):
        _tell(f"Added {board / ENTRIES / entry}")
    _tell(f"The site: edsim board build --board {board}")


@board.command
def check(*, board: Path = Path("board")) -> int:
    """Look at every entry of a board; exit code 1 if one does not belong there.

    Parameters
    ----------
    board
        Folder of the board.
    """
    from edsim.leaderboard.collection import look_at

    looked = look_at(board)
    for name, sentences in looked.problems.items():
        for sentence in sentences:
            _tell(f"{name}: {sentence}")
    n_wrong = len(looked.problems)
    _tell(f"{len(looked.entries)} entries are fine" + (f", {n_wrong} are not." if n_wrong else "."))
    return 1 if n_wrong else 0


@board.command
def build(
    *, board: Path = Path("board"), out: Path = Path("site"), overwrite: bool = False
) -> None:
    """Make the static site of a board: open its index.html, or put the folder on any web server.

    Parameters
    ----------
    board
        Folder of the board; every entry in it has to be fine.
    out
        Folder to make.
    overwrite
        Replace the folder if it is there.
    """
    from edsim.errors import BadInputError
    from edsim.lab.directory import whole_directory
    from edsim.leaderboard.collection import look_at
    from edsim.leaderboard.site import FRONT, site_of

    looked = look_at(board)
    if looked.problems:
        raise BadInputError(
            f"{len(looked.problems)} entries do not belong on the board. What is wrong with them "
            f"says: edsim board check --board {board}"
        )
    n_pages = 0
    with whole_directory(out, overwrite=overwrite, known_by=FRONT) as folder:
        for path, content in site_of(looked.entries, looked.settings):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content.encode("utf-8", errors="replace"))
            n_pages += path.endswith(".html")
    out.chmod(0o755)
    _tell(f"Written to {out}: {n_pages} pages of {len(looked.entries)} entries. Open {out / FRONT}")


def _tell(text: str) -> None:
    console.print(text, markup=False, soft_wrap=True, highlight=False)
