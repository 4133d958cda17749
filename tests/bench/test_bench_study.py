"""What holds the nodes of a cluster back is named from what was measured."""

from __future__ import annotations

import pytest

from edsim.bench.study import NodesMeasured, bench_study, bottleneck
from edsim.errors import BadInputError


def measured(nodes: int, window: float, work: float, typical: float) -> NodesMeasured:
    return NodesMeasured(
        nodes=nodes, pieces=20, seconds=window + 5, window=window, work=work, typical=typical
    )


ONE = measured(1, window=40.0, work=39.0, typical=1.8)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (measured(2, 20.5, 39.5, 1.8), "nothing: the rate grows with the nodes"),
        (measured(3, 21.0, 60.0, 2.8), "a piece takes 1.6 times as long where 3 nodes share 2"),
        (measured(4, 39.0, 40.0, 1.8), "handing out: nodes wait 74% of the time"),
        (measured(3, 26.0, 76.0, 1.8), "starting: first pieces of a process"),
    ],
)
def test_the_bottleneck_is_named(row: NodesMeasured, said: str) -> None:
    assert said in bottleneck(row, ONE, 2)


def test_no_nodes_are_refused() -> None:
    with pytest.raises(BadInputError, match="at least 1"):
        bench_study(0, pieces=1, launches=10, stays=100)


@pytest.mark.cluster
def test_every_piece_of_every_cluster_is_counted() -> None:
    pytest.importorskip("ray")
    (row,) = bench_study(1, pieces=2, launches=60, stays=300)
    assert row.pieces == 2 * 2  # rollouts and a sheet each
    assert 0 < row.work <= row.window < row.seconds and 0 < row.busy <= 1
