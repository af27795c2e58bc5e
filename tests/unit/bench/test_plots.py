"""Every bench's figures can be drawn."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from understudy_bench.latencies import Latencies
from understudy_bench.plots import plots

HISTOGRAM: Final = Latencies.of(
    np.random.default_rng(1).lognormal(12.5, 0.4, 500).astype(np.int64)
).histogram
TRIALS: Final = [
    {"what": what, "characters": n, "missed": max(0, n - 9), "frames": 120 * n, "cpu_us": 40.0}
    for what in ("server", "echo")
    for n in (4, 8, 16)
]
RUN: Final = {"resident_bytes": [1000, 2000, 2000], "p50_us": [10.0, 11.0, 9.0]}
RESULTS: Final[dict[str, dict[str, Any]]] = {
    "latency": {
        "histograms": {"server": HISTOGRAM, "echo": HISTOGRAM},
        "stages_us": {"decode": {"p50": 3.0, "p99": 9.0}, "work": {"p50": 30.0, "p99": 90.0}},
    },
    "budget": {
        "cells": [
            {
                "transport": transport,
                "solver": "clik",
                "rate_hz": rate,
                "server": {"histogram": HISTOGRAM},
                "echo": {"histogram": HISTOGRAM},
            }
            for transport in ("zmq", "vmc")
            for rate in (30.0, 60.0, 120.0)
        ]
    },
    "soak": {"pipeline": RUN, "server": RUN, "real_time": {**RUN, "first_settled": 1}},
    "capacity": {
        "transports": {"zmq": {"trials": TRIALS}, "vmc": {"trials": TRIALS}},
        "growth": {
            "over_joints": [{"joints": 25, "us": 9.0}, {"joints": 50, "us": 12.0}],
            "over_rows": [{"rows": 3, "us": 9.0}, {"rows": 6, "us": 10.0}],
        },
    },
    "solvers": {
        "solvers": {name: {"hot_best_us": 9.0, "paced_best_us": 30.0} for name in ("clik", "mink")}
    },
    "quality": {
        "figures": [
            {
                "solver": solver,
                "slide_strict": {"mean": 0.1},
                "error_mean_cm": 0.01,
                "jerk_ratio": 1.0,
                "pops": 0,
            }
            for solver in ("copy", "clik")
        ]
    },
}


@pytest.mark.parametrize(
    ("bench", "count"),
    [("latency", 2), ("budget", 2), ("soak", 2), ("capacity", 5), ("solvers", 1), ("quality", 1)],
)
def test_a_bench_has_its_plots(bench: str, count: int) -> None:
    drawn = plots(bench, RESULTS[bench])
    assert len(drawn) == len({title for title, _ in drawn}) == count
    for _, figure in drawn:
        figure.canvas.draw()
        assert all(axis.lines or axis.patches for axis in figure.axes if axis.get_visible())


def test_what_was_held_stands_in_the_legend() -> None:
    figure = dict(plots("capacity", RESULTS["capacity"]))["capacity over VMC"]
    assert figure.axes[0].get_legend_handles_labels()[1] == ["server: 8 held", "echo: 8 held"]


def test_a_bench_without_plots_has_none() -> None:
    assert plots("compare", {}) == []
