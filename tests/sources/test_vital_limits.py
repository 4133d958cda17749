"""Vital signs: what is normal, what is no vital sign at all, and whose limits hold."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from edsim.errors import BadInputError
from edsim.sources.vital_limits import (
    DEFAULT_LIMITS,
    is_abnormal,
    n_not_numbers,
    n_outside_valid,
    read_limits,
    with_measured,
)


def rows(**values: str | None) -> pl.DataFrame:
    limits = read_limits()
    return with_measured(
        pl.DataFrame(
            {name: [values.get(name)] for name in limits}, dict.fromkeys(limits, pl.String)
        ),
        limits,
    )


def abnormal(**values: str | None) -> bool:
    return bool(rows(**values).select(is_abnormal(read_limits())).item())


@pytest.mark.parametrize(
    ("name", "normal", "too_low", "too_high"),
    [
        ("temperature", ("36.0", "38.0", "37", "98.6", "96.8", "100.4"), "35.9", "38.1"),
        ("temperature", ("25.0",), "96.7", "100.5"),  # 25.0 C is Celsius, and impossible
        ("heartrate", ("50", "110", "110.0"), "49", "111"),
        ("resprate", ("10", "22"), "9", "23"),
        ("o2sat", ("94", "100"), "93", None),
        ("sbp", ("90", "180"), "89", "181"),
    ],
)
def test_both_ends_of_a_normal_range_are_normal(
    name: str, normal: tuple[str, ...], too_low: str, too_high: str | None
) -> None:
    assert not any(abnormal(**{name: value}) for value in normal)
    assert abnormal(**{name: too_low})
    assert too_high is None or abnormal(**{name: too_high})


@pytest.mark.parametrize("value", ["45", "26", "44.9", "113", "80"])
def test_temperatures_from_25_to_45_are_celsius_and_others_fahrenheit(value: str) -> None:
    assert abnormal(temperature=value)  # 113 F is 45 C, 80 F is 26.7 C
    assert rows(temperature=value).select(n_outside_valid(read_limits())).item() == 0


def test_the_ends_of_the_range_are_the_same_in_fahrenheit_on_any_number_of_rows() -> None:
    # on more than one row, division by 1.8 alone gives 38.00000000000001 for 100.4
    limits = read_limits()
    text = {name: [None] * 16 for name in limits} | {"temperature": ["100.4", "96.8"] * 8}
    many = with_measured(pl.DataFrame(text, dict.fromkeys(limits, pl.String)), limits)
    assert many.select(is_abnormal(limits).any()).item() is False


def test_what_is_missing_is_not_abnormal() -> None:
    assert not abnormal()
    assert not abnormal(heartrate="", sbp=" ")


def test_one_value_outside_makes_a_check_abnormal() -> None:
    assert abnormal(heartrate="70", sbp="120", o2sat="80")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("o2sat", "980"),
        ("heartrate", "-1"),
        ("temperature", "46"),
        ("temperature", "200"),
        ("sbp", "400"),
        ("sbp", "inf"),
        ("sbp", "nan"),
    ],
)
def test_a_value_that_cannot_be_counts_as_not_recorded(name: str, value: str) -> None:
    assert not abnormal(**{name: value})
    assert rows(**{name: value}).select(n_outside_valid(read_limits())).item() == 1


@pytest.mark.parametrize("value", ["high", "1O5", "12 0", "--"])
def test_text_counts_as_not_recorded(value: str) -> None:
    assert not abnormal(heartrate=value)
    assert rows(heartrate=value).select(n_not_numbers(read_limits())).item() == 1


def test_limits_of_ones_own_replace_the_packages(tmp_path: Path) -> None:
    path = tmp_path / "children.toml"
    path.write_text(DEFAULT_LIMITS.read_text().replace("normal = [50, 110]", "normal = [80, 160]"))
    limits = read_limits(path)
    assert limits["heartrate"].normal == (80, 160)
    assert rows(heartrate="70").select(is_abnormal(limits)).item() is True
    path.write_text("[dbp]\nnormal = [60, 90]\nvalid = [0, 375]\n")
    assert list(read_limits(path)) == ["dbp"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("temperature = ", "is not a TOML file"),
        ("", "has no section"),
        ("[pulse]\nnormal = [1, 2]\nvalid = [1, 2]\n", "has the section pulse"),
        ("[sbp]\nnormal = [90]\nvalid = [0, 375]\n", "'normal' is a pair of numbers"),
        ("[sbp]\nnormal = [180, 90]\nvalid = [0, 375]\n", "'normal' is a pair of numbers"),
        ("[sbp]\nnormal = [90, 'x']\nvalid = [0, 375]\n", "'normal' is a pair of numbers"),
        ("[sbp]\nnormal = [90, 180]\n", "section sbp: 'valid' is a pair of numbers"),
        ("sbp = 3\n", "section sbp: 'normal' is a pair of numbers"),
    ],
)
def test_limits_that_make_no_sense_are_refused(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(text)
    with pytest.raises(BadInputError, match=expected.replace("[", r"\[")):
        read_limits(path)
    with pytest.raises(BadInputError, match="cannot be read"):
        read_limits(tmp_path / "absent.toml")
