"""What is null says why, and says the true reason."""

from __future__ import annotations

from metrics.groups import group, row_of, table
from metrics.rows import only_tokens


def test_a_multiple_has_the_reason_of_its_own_divergence_first() -> None:
    ends_at_once, goes_on = only_tokens([0], [0]), only_tokens([1, 0], [1, 0])
    one = group(table(ends_at_once, goes_on), reference=table(goes_on, goes_on))
    assert row_of(one, "jsd_pairs").value is None
    assert row_of(one, "xf_pairs").note == row_of(one, "jsd_pairs").note
    at_truth = group(table(goes_on, goes_on), reference=table(goes_on, goes_on))
    assert "order-3 model's divergence is 0" in row_of(at_truth, "xf_pairs").note
