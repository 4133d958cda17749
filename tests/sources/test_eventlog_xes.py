"""XES logs: what r4pm would pass over in silence is found, and what it prints is not shown."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest
from event_logs import ROWS, activities, read_log, write_csv, write_xes
from polars.testing import assert_frame_equal

from edsim.errors import BadInputError, MissingExtraError

pytest.importorskip("r4pm", reason="the extra 'xes' is not installed")

EVENT = (
    '<event><string key="concept:name" value="x"/><date key="time:timestamp" value="{}"/>{}</event>'
)


def one_trace(
    path: Path, *events: str, name: str = '<string key="concept:name" value="a"/>'
) -> Path:
    path.write_text(f"<log><trace>{name}{''.join(events)}</trace></log>", encoding="utf-8")
    return path


def event(more: str = "", time: str = "2024-01-01T10:00:00Z") -> str:
    return EVENT.format(time, more)


def refusal(path: Path, **flags: str) -> str:
    with pytest.raises(BadInputError) as caught:
        read_log(path, **flags)
    return str(caught.value)


@pytest.mark.parametrize("n_bytes", [120, 200, 400])
def test_a_document_that_is_cut_short_is_refused(tmp_path: Path, n_bytes: int) -> None:
    path = write_xes(tmp_path / "log.xes")
    path.write_bytes(path.read_bytes()[:n_bytes])
    assert "not well-formed" in refusal(path)


def test_a_document_that_lacks_its_last_tag_is_refused(tmp_path: Path) -> None:
    path = write_xes(tmp_path / "log.xes")
    path.write_bytes(path.read_bytes().removesuffix(b"</log>\n"))
    assert "after 2 cases and 6 events" in refusal(path)


def test_gzip_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = write_xes(tmp_path / "log.xes.gz", [(f"{i}", *ROWS[0][1:]) for i in range(3000)])
    path.write_bytes(path.read_bytes()[:-1000])
    assert "cut short" in refusal(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("case,activity,time\na,x,2024-01-01\n", "empty or not XML"),
        ("<html><body/></html>", "not a log"),
        ("<log></log>", "0 cases and no event"),
        (
            '<log><trace><string key="concept:name" value="a"/></trace></log>',
            "1 cases and no event",
        ),
        ('<!DOCTYPE log [<!ENTITY e "x">]><log><trace><event/></trace></log>', "document type"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><log/>', "another encoding than UTF-8"),
        ("<log><trace><event></trace></event></log>", "not well-formed XML in line 1"),
    ],
)
def test_what_is_not_an_event_log_is_refused(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "log.xes"
    path.write_text(content, encoding="utf-8")
    assert says in refusal(path)


def test_bytes_of_another_encoding_are_refused(tmp_path: Path) -> None:
    path = write_xes(tmp_path / "log.xes")
    path.write_bytes(path.read_bytes().replace(b"scan", b"Entla\xdf"))
    assert "not UTF-8" in refusal(path)


def test_times_that_cannot_be_read_are_counted_and_never_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = one_trace(tmp_path / "log.xes", event(), event(time="born in May"), event())
    message = refusal(path)
    assert "1 of 3 events have no time" in message
    assert "data row 2" in message
    assert "born" not in message
    out, err = capfd.readouterr()
    assert "born" not in out + err


def test_events_without_an_activity_or_a_case_are_counted(tmp_path: Path) -> None:
    nameless = event().replace('<string key="concept:name" value="x"/>', "")
    assert "1 of 2 events have no activity" in refusal(
        one_trace(tmp_path / "log.xes", event(), nameless)
    )
    two = f'<log><trace>{event()}</trace><trace><string key="concept:name" value="b"/>{event()}</trace></log>'
    (tmp_path / "two.xes").write_text(two)
    assert "1 of 2 events have no case" in refusal(tmp_path / "two.xes")


def test_a_log_without_times_says_which_attributes_it_has(tmp_path: Path) -> None:
    bare = '<event><string key="concept:name" value="x"/></event>'
    message = refusal(one_trace(tmp_path / "log.xes", bare))
    assert "usual name for the time. It has 'case:concept:name', 'concept:name'" in message


def test_values_of_mixed_types_are_the_text_they_were(tmp_path: Path) -> None:
    values = (
        '<int key="v" value="3"/>',
        '<string key="v" value="007"/>',
        '<string key="v" value="a &quot;b&quot; &#10; c"/>',
        '<boolean key="v" value="true"/>',
        '<float key="v" value="2.5"/>',
    )
    log = read_log(one_trace(tmp_path / "log.xes", *map(event, values)), detail="v")
    assert log.events["detail"].to_list() == ["3", "007", 'a "b" \n c', "true", "2.5"]


def test_case_names_that_are_numbers_stay_apart(tmp_path: Path) -> None:
    text = "".join(
        f'<trace><{kind} key="concept:name" value="{name}"/>{event()}</trace>'
        for kind, name in (("int", "7"), ("string", "007"))
    )
    (tmp_path / "log.xes").write_text(f"<log>{text}</log>")
    assert read_log(tmp_path / "log.xes").stays["stay_id"].to_list() == ["007", "7"]


def test_nested_attributes_are_left_out_and_lists_refused_where_wanted(tmp_path: Path) -> None:
    more = '<string key="v" value="out"><string key="w" value="in"/></string>'
    more += '<list key="L"><values><string key="i" value="1"/></values></list>'
    path = one_trace(tmp_path / "log.xes", event(more))
    assert read_log(path, detail="v").events["detail"].to_list() == ["out"]
    assert "holds lists" in refusal(path, detail="L")
    assert "no column 'w'" in refusal(path, detail="w")


def test_truth_values_that_are_none_are_refused_where_wanted(tmp_path: Path) -> None:
    path = one_trace(tmp_path / "log.xes", event('<boolean key="v" value="True"/>'))
    assert read_log(path).events.height == 1
    assert "1 values of the attribute 'v'" in refusal(path, detail="v")


def test_a_date_in_some_events_only_is_no_time(tmp_path: Path) -> None:
    text = event().replace("<date", "<string")
    assert "date in some events only" in refusal(one_trace(tmp_path / "log.xes", event(), text))
    assert read_log(one_trace(tmp_path / "b.xes", text)).events.height == 1


def test_cases_of_one_name_are_one_and_empty_ones_are_told(tmp_path: Path) -> None:
    named = '<trace><string key="concept:name" value="{}"/>{}</trace>'
    parts = named.format("a", event()), named.format("a", event()), named.format("b", "")
    (tmp_path / "log.xes").write_text(f"<log>{''.join(parts)}</log>")
    log = read_log(tmp_path / "log.xes")
    assert activities(log, "a") == ["x", "x"]
    assert any("1 of 3 cases hold no event" in notice for notice in log.notices)
    assert any("1 of 3 cases bear the name of another" in notice for notice in log.notices)


def test_a_name_that_does_not_fit_the_form_is_told(tmp_path: Path) -> None:
    plain = write_xes(tmp_path / "log.xes").read_bytes()
    wrong = tmp_path / "zipped.xes"
    wrong.write_bytes(gzip.compress(plain))
    assert ".xes or .xes.gz" in refusal(wrong)
    other = tmp_path / "log.xml"
    other.write_bytes(plain)
    assert read_log(other).stays.height == 2


def test_a_timezone_means_the_same_for_xes_as_for_csv(tmp_path: Path) -> None:
    for zone in ("Europe/Amsterdam", "America/New_York"):
        csv = read_log(write_csv(tmp_path / "log.csv"), timezone=zone)
        xes = read_log(write_xes(tmp_path / "log.xes"), timezone=zone)
        assert_frame_equal(csv.stays, xes.stays)
        assert_frame_equal(csv.events, xes.events)


def test_events_that_the_reader_passes_over_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import r4pm

    whole = r4pm.df.import_xes
    monkeypatch.setattr(r4pm.df, "import_xes", lambda path: (whole(path)[0].head(4), ""))
    message = refusal(write_xes(tmp_path / "log.xes"))
    assert "holds 6 events, but r4pm reads 4" in message


def test_without_r4pm_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "r4pm", None)
    with pytest.raises(MissingExtraError, match=r"edsim-bench\[xes\]"):
        read_log(write_xes(tmp_path / "log.xes"))
