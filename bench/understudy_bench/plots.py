"""The plots of each bench: what its figures look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from hdrh.histogram import HdrHistogram
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

Results = Mapping[str, Any]  # Any: what JSON carries
Plot = tuple[str, Figure]

_COLOURS: Final = ("#c2410c", "#2563eb", "#15803d", "#7c3aed", "#a16207", "#0e7490")
_GREY: Final = "#71717a"
_TRANSPORTS: Final = {"zmq": "ZeroMQ", "vmc": "VMC"}
_SOLVER_COLOURS: Final = dict(zip(("copy", "clik", "ukf", "egik"), _COLOURS, strict=False))


def plots(bench: str, results: Results) -> list[Plot]:
    """The plots of a bench's results, each with its title."""
    draw = _BENCHES.get(bench)
    return [] if draw is None else draw(results)


def _latency(results: Results) -> list[Plot]:
    return [
        ("latency by share of frames", latency_curves(results["histograms"])),
        ("where a frame's time goes", stage_bars(results["stages_us"])),
    ]


def _budget(results: Results) -> list[Plot]:
    cells = results["cells"]
    return [
        (f"latency over {_TRANSPORTS[transport]}", budget_panels(cells, transport))
        for transport in dict.fromkeys(cell["transport"] for cell in cells)
    ]


def _soak(results: Results) -> list[Plot]:
    names = {"pipeline": "pipeline", "server": "server", "real_time": "server, real time"}
    runs = {label: results[key] for key, label in names.items() if results.get(key)}
    return [("resident memory", memory_curves(runs)), ("latency over the run", drift_curves(runs))]


def _capacity(results: Results) -> list[Plot]:
    found, growth = results["transports"], results["growth"]
    return [
        *(
            (f"capacity over {_TRANSPORTS[transport]}", capacity_curves(each["trials"]))
            for transport, each in found.items()
        ),
        ("processor time per frame by characters", cpu_curves(found)),
        ("cost of a solve by joints", growth_curve(growth, "joints")),
        ("cost of a solve by rows of goals", growth_curve(growth, "rows")),
    ]


def _solvers(results: Results) -> list[Plot]:
    return [("one solve, hot and paced", solver_bars(results["solvers"]))]


def _quality(results: Results) -> list[Plot]:
    return [("by solver", quality_bars(results["figures"]))]


_BENCHES: Final[Mapping[str, Callable[[Results], list[Plot]]]] = {
    "latency": _latency,
    "budget": _budget,
    "soak": _soak,
    "capacity": _capacity,
    "solvers": _solvers,
    "quality": _quality,
}


def latency_curves(histograms: Mapping[str, str]) -> Figure:
    """Latency over percentile: the tail is spread out, since that is what is felt."""
    figure, axis = _axes("share of frames at least as fast", "latency, us")
    for colour, (name, encoded) in zip(_COLOURS, histograms.items(), strict=False):
        axis.plot(*_percentiles(encoded), color=colour, label=name)
    _percent_axis(axis)
    axis.legend(frameon=False)
    return figure


def budget_panels(cells: Sequence[Results], transport: str) -> Figure:
    """A panel for each rate: every solver's latency, the echo's, and the frame's budget."""
    rates = sorted({cell["rate_hz"] for cell in cells})
    columns = min(2, len(rates))
    rows = -(-len(rates) // columns)
    figure = Figure(figsize=(9.0, 0.6 + 3.1 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).flatten()
    for axis, rate in zip(panels, rates, strict=False):
        own = [c for c in cells if c["transport"] == transport and c["rate_hz"] == rate]
        for cell in own:
            colour = _SOLVER_COLOURS.get(cell["solver"], _COLOURS[-1])
            axis.plot(
                *_percentiles(cell["server"]["histogram"]), color=colour, label=cell["solver"]
            )
        if own:
            echo = _percentiles(own[0]["echo"]["histogram"])
            axis.plot(*echo, color=_GREY, lw=1.0, label="echo")
        axis.axhline(1e6 / rate, color="#b91c1c", lw=1.0, ls="--", label="budget")
        axis.set_title(f"{rate:g} Hz", fontsize=11)
        axis.set_ylabel("latency, us")
        _tidy(axis)
        _percent_axis(axis)
    for axis in panels[len(rates) :]:
        axis.set_visible(False)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    return figure


def stage_bars(stages: Mapping[str, Mapping[str, float]]) -> Figure:
    """One bar per stage, median and p99."""
    names = [name for name in stages if name != "work"]
    figure, axis = _axes("us", "")
    places = np.arange(len(names))[::-1]
    medians = [stages[name]["p50"] for name in names]
    bars = axis.barh(places, medians, color=_COLOURS[0], label="p50")
    axis.bar_label(bars, labels=[f" {value:.0f}" for value in medians], fontsize=9)
    axis.plot([stages[n]["p99"] for n in names], places, "|", color="#52525b", ms=14, label="p99")
    axis.set_xscale("symlog", linthresh=10.0)
    axis.xaxis.set_major_formatter(FuncFormatter(_plain))
    axis.set_yticks(places, names)
    axis.legend(frameon=False)
    return figure


def memory_curves(runs: Mapping[str, Results]) -> Figure:
    """Resident memory over a soak, from when things had settled."""
    figure, axis = _axes("share of the run, %", "grown, KiB")
    for colour, (what, run) in zip(_COLOURS, runs.items(), strict=False):
        series = np.array(run["resident_bytes"][run.get("first_settled", 0) :], np.float64)
        at = np.linspace(0.0, 100.0, len(series))
        axis.plot(at, (series - series[0]) / 1024.0, color=colour, label=what)
    axis.axhline(1024.0, color="#b91c1c", lw=1.0, ls="--", label="limit")
    axis.legend(frameon=False)
    return figure


def drift_curves(runs: Mapping[str, Results]) -> Figure:
    """p50 over a soak, by that of its first part."""
    figure, axis = _axes("share of the run, %", "p50 by the first part's")
    for colour, (what, run) in zip(_COLOURS, runs.items(), strict=False):
        series = np.array(run["p50_us"])
        at = np.linspace(0.0, 100.0, len(series))
        axis.plot(at, series / max(series[0], 1e-9), color=colour, label=what)
    axis.set_ylim(bottom=0.0)
    axis.legend(frameon=False)
    return figure


def capacity_curves(trials: Sequence[Results]) -> Figure:
    """Missed deadlines over the number of characters, server and echo."""
    figure, axis = _axes("characters at once", "deadlines missed, %")
    for colour, what in zip(_COLOURS, ("server", "echo"), strict=False):
        points = sorted(
            (t["characters"], 100.0 * t["missed"] / t["frames"])
            for t in trials
            if t["what"] == what
        )
        if points:
            at, missed = zip(*points, strict=True)
            held = max((n for n, share in points if share == 0.0), default=0)
            axis.plot(at, missed, "o-", color=colour, label=f"{what}: {held} held")
    axis.set_xlim(left=0.0)
    axis.set_ylim(bottom=0.0)
    axis.legend(frameon=False)
    return figure


def cpu_curves(found: Mapping[str, Results]) -> Figure:
    """Processor time per frame over the number of characters, by transport and process."""
    figure, axis = _axes("characters at once", "CPU time per frame, us")
    kinds = [(transport, what) for transport in found for what in ("server", "echo")]
    for colour, (transport, what) in zip(_COLOURS, kinds, strict=False):
        trials = [t for t in found[transport]["trials"] if t["what"] == what]
        at, cost = zip(*sorted((t["characters"], t["cpu_us"]) for t in trials), strict=True)
        axis.plot(at, cost, "o-", color=colour, label=f"{what}, {_TRANSPORTS[transport]}")
    axis.set_xlim(left=0.0)
    axis.set_ylim(bottom=0.0)
    axis.legend(frameon=False)
    return figure


def growth_curve(growth: Results, what: str) -> Figure:
    """The time of a solve over joints or rows."""
    costs = growth[f"over_{what}"]
    figure, axis = _axes(what, "one solve, us")
    axis.plot([c[what] for c in costs], [c["us"] for c in costs], "o-", color=_COLOURS[0])
    axis.set_xlim(left=0.0)
    axis.set_ylim(bottom=0.0)
    return figure


def solver_bars(solvers: Mapping[str, Results]) -> Figure:
    """Best p50 of every solver and peer, hot, and in real time beside it."""
    figure, axis = _axes("one solve, us", "")
    places = np.arange(len(solvers))[::-1]
    hot = [each["hot_best_us"] for each in solvers.values()]
    colours = [_COLOURS[0] if name in _SOLVER_COLOURS else _GREY for name in solvers]
    bars = axis.barh(places, hot, color=colours)
    axis.bar_label(bars, labels=[f" {value:,.1f}" for value in hot], fontsize=9)
    paced = [each["paced_best_us"] for each in solvers.values()]
    axis.plot(paced, places, "|", color="#18181b", ms=14, label="paced, 120 Hz")
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(FuncFormatter(_plain))
    axis.set_yticks(places, list(solvers))
    axis.legend(frameon=False, loc="upper right")
    return figure


def quality_bars(figures: Sequence[Results]) -> Figure:
    """Slide, error, jerk and pops of every solver, over all its takes."""
    names = list(dict.fromkeys(each["solver"] for each in figures))

    def mean(value: Callable[[Results], float]) -> list[float]:
        return [float(np.mean([value(f) for f in figures if f["solver"] == n])) for n in names]

    panels = {
        "slide by the strict truth, cm/s": mean(lambda f: f["slide_strict"]["mean"]),
        "error of goals, cm": mean(lambda f: f["error_mean_cm"]),
        "jerk by copying's": mean(lambda f: f["jerk_ratio"]),
        "pops a take": mean(lambda f: f["pops"]),
    }
    figure = Figure(figsize=(9.0, 1.2 + 0.55 * len(names)), layout="constrained")
    places = np.arange(len(names))[::-1]
    for axis, (title, values) in zip(
        figure.subplots(1, len(panels), sharey=True), panels.items(), strict=True
    ):
        bars = axis.barh(places, values, color=_COLOURS[0])
        axis.bar_label(bars, labels=[f" {value:.3g}" for value in values], fontsize=9)
        axis.margins(x=0.25)
        axis.set_title(title, fontsize=10)
        axis.set_yticks(places, names)
        _tidy(axis)
    return figure


def _percentiles(encoded: str) -> tuple[list[float], list[float]]:
    """How many frames one in which is slower, and than what (us)."""
    histogram = HdrHistogram.decode(encoded)
    total = max(2, histogram.get_total_count())
    one_in = np.geomspace(1.05, total, 200)
    values = [histogram.get_value_at_percentile(100.0 * (1.0 - 1.0 / k)) * 1e-3 for k in one_in]
    return one_in.tolist(), values


def _percent_axis(axis: Any) -> None:  # Any: matplotlib's axes
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xticks([2, 10, 100, 1000, 10_000], ["50 %", "90 %", "99 %", "99.9 %", "99.99 %"])
    axis.set_xticks([], minor=True)
    axis.yaxis.set_major_formatter(FuncFormatter(_plain))
    axis.yaxis.set_minor_formatter(FuncFormatter(_only_some))


def _plain(value: float, place: int | None = None) -> str:
    return f"{value:,.0f}" if value >= 1.0 or value == 0.0 else f"{value:g}"


def _only_some(value: float, place: int | None = None) -> str:
    """Labels between powers of ten: 2 and 5 of each."""
    leading = value / 10 ** np.floor(np.log10(value)) if value > 0 else 0
    return _plain(value) if round(leading, 3) in (2, 5) else ""


def _axes(along: str, up: str) -> tuple[Figure, Any]:  # Any: matplotlib's axes
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    axis = figure.subplots()
    axis.set_xlabel(along)
    axis.set_ylabel(up)
    _tidy(axis)
    return figure, axis


def _tidy(axis: Any) -> None:  # Any: matplotlib's axes
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25)
    axis.set_axisbelow(True)
