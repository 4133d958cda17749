"""The times of a log, in UTC: ISO 8601 or a given format, with an offset or in a named zone.

Times with an offset are instants and become UTC. Times without one are wall-clock times: of
`timezone` where it is given, else taken as they are. Both kinds in one log are refused, since
there is no telling how they stand to each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.sources.moments import BETWEEN, possible

if TYPE_CHECKING:
    import polars as pl

_ISO = (
    r"^(\d{4}-\d{2}-\d{2})"
    r"(?:[T ](\d{2}:\d{2})(?::([0-5]\d))?(?:[.,](\d{1,9}))?\s*"
    r"(Z|UTC|[+-](?:0\d|1[0-8])(?::?[0-5]\d)?)?)?$"
)


def check_timezone(timezone: str | None) -> None:
    """Refuse the name of a zone that does not exist."""
    if timezone is not None and not _is_a_zone(timezone):
        raise BadInputError(
            f"there is no time zone '{timezone}'. Use a name such as Europe/Amsterdam or UTC."
        )


def _is_a_zone(timezone: str) -> bool:
    import polars as pl

    try:
        pl.Series([0]).cast(pl.Datetime("us", timezone)).dt.convert_time_zone("UTC")
    except pl.exceptions.PolarsError:
        return False
    return bool(timezone.strip())


def to_utc(
    times: pl.Series, *, column: str, time_format: str | None, timezone: str | None
) -> tuple[pl.Series, bool]:
    """Datetime[us] in UTC, and whether the log itself said how its times stand to UTC."""
    import polars as pl

    _refuse_missing(times, column)
    if times.dtype in (pl.Categorical, pl.Enum):
        times = times.cast(pl.String)
    if times.dtype == pl.String:
        parsed, aware = _parse(times, column, time_format)
    elif isinstance(times.dtype, pl.Datetime):
        aware = times.dtype.time_zone is not None
        parsed = times.dt.cast_time_unit("us")
        if aware:
            parsed = parsed.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    elif times.dtype == pl.Date:
        parsed, aware = times.cast(pl.Datetime("us")), False
    else:
        raise BadInputError(
            f"the column '{column}' holds {times.dtype}, which is not a time. Write it as text "
            "(2024-03-31 14:05:00+02:00) or as a timestamp."
        )
    _refuse_impossible(parsed, column)
    if not aware and timezone is not None:
        parsed = _from_wall_clock(parsed, column, timezone)
    return parsed, aware


def to_local(times: pl.Series, timezone: str) -> pl.Series:
    """UTC times as the wall clock of `timezone` shows them."""
    utc = times.dt.replace_time_zone("UTC")
    return utc.dt.convert_time_zone(timezone).dt.replace_time_zone(None)


def _parse(text: pl.Series, column: str, time_format: str | None) -> tuple[pl.Series, bool]:
    import polars as pl

    if time_format is None:
        wall, offset = _parse_iso(text.str.strip_chars())
    else:
        wall, offset = _parse_format(text.str.strip_chars(), time_format)
    bad = wall.is_null()
    if bad.any():
        how = "as ISO 8601" if time_format is None else f"as {time_format}"
        raise BadInputError(
            f"{int(bad.sum())} of {len(text)} times in the column '{column}' cannot be read {how}, "
            f"first in data row {int(bad.arg_true()[0]) + 1}. "
            "Say how they are written with --time-format, as in %d.%m.%Y %H:%M."
        )
    n_aware = int(offset.is_not_null().sum())
    if 0 < n_aware < len(text):
        rows = [int(part.arg_true()[0]) + 1 for part in (offset.is_not_null(), offset.is_null())]
        raise BadInputError(
            f"{n_aware} of {len(text)} times in the column '{column}' carry an offset from UTC, "
            f"first in data row {rows[0]}, and the others do not, first in data row {rows[1]}: "
            "they cannot be put in one order. Export the log with one form of time."
        )
    if n_aware == 0:
        return wall, False
    frame = pl.DataFrame({"wall": wall, "offset": offset})
    return frame.select(pl.col("wall") - pl.duration(minutes="offset"))["wall"], True


def _parse_iso(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Wall-clock time (null where unreadable) and offset in minutes (null where none)."""
    import polars as pl

    parts = (
        pl.DataFrame({"text": text})
        .select(pl.col("text").str.extract_groups(_ISO).struct.rename_fields(list("dmsfz")))
        .unnest("text")
    )
    day, minute, second, fraction, zone = (pl.col(name) for name in "dmsfz")
    whole = day + " " + minute.fill_null("00:00") + ":" + second.fill_null("00")
    micros = fraction.fill_null("").str.pad_end(6, "0").str.slice(0, 6).cast(pl.Int64)
    sign = pl.when(zone.str.starts_with("-")).then(-1).otherwise(1)
    hours = zone.str.slice(1, 2).cast(pl.Int64, strict=False)
    minutes = zone.str.slice(3).str.strip_prefix(":").cast(pl.Int64, strict=False).fill_null(0)
    frame = parts.select(
        whole.str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us", strict=False).alias("wall")
        + pl.duration(microseconds=micros),
        pl.when(zone.is_in(["Z", "UTC"]))
        .then(0)
        .otherwise(sign * (hours * 60 + minutes))
        .alias("offset"),
    )
    return frame["wall"], frame["offset"]


def _parse_format(text: pl.Series, time_format: str) -> tuple[pl.Series, pl.Series]:
    """The same for a format of the user; an offset in it is already taken off."""
    import polars as pl

    clock = any(mark in time_format for mark in ("%H", "%I", "%T", "%R", "%X", "%c"))
    written = text if clock else text + " 00:00"
    try:
        parsed = written.str.to_datetime(
            time_format if clock else f"{time_format} %H:%M", time_unit="us", strict=False
        )
    except pl.exceptions.PolarsError:
        raise BadInputError(
            "--time-format cannot be used: it needs a year, a month and a day, as in "
            "%d.%m.%Y %H:%M."
        ) from None
    aware = isinstance(parsed.dtype, pl.Datetime) and parsed.dtype.time_zone is not None
    if aware:
        parsed = parsed.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    offset = pl.Series([0 if aware else None], dtype=pl.Int64).new_from_index(0, len(text))
    return parsed, offset


def _from_wall_clock(wall: pl.Series, column: str, timezone: str) -> pl.Series:
    """UTC of wall-clock times; of an hour that comes twice, the first is meant."""
    zoned = wall.dt.replace_time_zone(timezone, ambiguous="earliest", non_existent="null")
    skipped = zoned.is_null()
    if skipped.any():
        raise BadInputError(
            f"{int(skipped.sum())} of {len(wall)} times in the column '{column}' do not exist in "
            f"{timezone} (the hour that summer time skips), first in data row "
            f"{int(skipped.arg_true()[0]) + 1}. Are the times shifted, or of another zone? With "
            "--timezone UTC they are taken as they are written."
        )
    return zoned.dt.convert_time_zone("UTC").dt.replace_time_zone(None)


def _refuse_impossible(times: pl.Series, column: str) -> None:
    import polars as pl

    bad = pl.select(~possible(pl.lit(times))).to_series()
    if bad.any():
        raise BadInputError(
            f"{int(bad.sum())} of {len(times)} times in the column '{column}' do not lie "
            f"{BETWEEN}, first in data row {int(bad.arg_true()[0]) + 1}. Does such a time "
            "stand for one that is not known? Take these rows out."
        )


def _refuse_missing(times: pl.Series, column: str) -> None:
    missing = times.is_null()
    if missing.any():
        raise BadInputError(
            f"{int(missing.sum())} of {len(times)} events have no time that can be read in the "
            f"column '{column}', first in data row {int(missing.arg_true()[0]) + 1}."
        )
