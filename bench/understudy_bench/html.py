"""A report as a page: its tables, its checks and, where there is something to see, plots."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from hdrh.histogram import HdrHistogram
from matplotlib.figure import Figure

from understudy_bench.checks import Check
from understudy_bench.report import Report, Table

_COLOURS: Final = ("#c2410c", "#2563eb", "#15803d", "#7c3aed", "#a16207", "#0e7490")
_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
       color: #18181b; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #e4e4e7; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.pass { color: #15803d; } .fail { color: #b91c1c; font-weight: 600; } .unsaid { color: #a16207; }
.note { color: #52525b; } img { max-width: 100%; }
"""
_VERDICTS: Final = {True: ("pass", "pass"), False: ("fail", "FAIL"), None: ("unsaid", "too noisy")}


def write_page(report: Report, path: Path) -> None:
    """Write one page that needs nothing beside it."""
    meta = report.meta
    parts = [
        f"<h1>understudy bench {html.escape(report.bench)}</h1>",
        f'<p class="note">{html.escape(_machine_line(meta))}</p>',
        *(_image(title, figure) for title, figure in plots(report.bench, report.results)),
        *(_table(table) for table in report.tables),
        *(f'<p class="note">{html.escape(note)}</p>' for note in report.notes),
        "<h2>checks</h2>" if report.checks else "",
        _checks(report.checks),
    ]
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>understudy bench {html.escape(report.bench)}</title>"
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )
    path.write_text(page, encoding="utf-8")


def plots(bench: str, results: Mapping[str, Any]) -> list[tuple[str, Figure]]:
    """The plots of a bench's results, each with its title."""
    if bench == "latency":
        histograms = results["histograms"]
        return [
            ("latency of all frames", latency_curves(histograms)),
            ("where a frame's time goes", stage_bars(results["stages_us"])),
        ]
    if bench == "budget":
        curves = {
            f"{cell['solver']} {cell['rate_hz']:g} Hz": cell["server"]["histogram"]
            for cell in results["cells"]
        }
        return [("latency of all frames", latency_curves(curves))]
    if bench == "soak":
        return [
            ("resident memory", memory_curves(results)),
            ("latency over the run", drift_curves(results)),
        ]
    if bench == "capacity":
        found = results["transports"]
        names = {"zmq": "ZeroMQ", "vmc": "VMC"}
        return [
            *(
                (f"capacity over {names[transport]}", capacity_curves(each["trials"]))
                for transport, each in found.items()
            ),
            ("CPU time per frame by characters", cpu_curves(found)),
            ("cost of a solve by joints", growth_curve(results["growth"], "joints")),
            ("cost of a solve by rows of goals", growth_curve(results["growth"], "rows")),
        ]
    return []


def latency_curves(histograms: Mapping[str, str]) -> Figure:
    """Latency over percentile: the tail is spread out, since that is what is felt."""
    figure, axis = _axes("frames slower than this, one in", "latency, us")
    for colour, (name, encoded) in zip(_COLOURS * 4, histograms.items(), strict=False):
        histogram = HdrHistogram.decode(encoded)
        total = max(1, histogram.get_total_count())
        one_in = np.geomspace(1.05, max(2.0, total), 200)
        values = [histogram.get_value_at_percentile(100.0 * (1.0 - 1.0 / k)) * 1e-3 for k in one_in]
        axis.plot(one_in, values, color=colour, label=name)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.legend(frameon=False)
    return figure


def stage_bars(stages: Mapping[str, Mapping[str, float]]) -> Figure:
    """One bar per stage, median and p99."""
    names = [name for name in stages if name != "work"]
    figure, axis = _axes("us", "")
    places = np.arange(len(names))[::-1]
    axis.barh(places, [stages[n]["p50"] for n in names], color=_COLOURS[0], label="p50")
    axis.plot([stages[n]["p99"] for n in names], places, "|", color="#52525b", ms=14, label="p99")
    axis.set_xscale("symlog", linthresh=10.0)
    axis.set_yticks(places, names)
    axis.legend(frameon=False)
    return figure


def memory_curves(results: Mapping[str, Any]) -> Figure:
    """Resident memory over a soak, from when things had settled."""
    figure, axis = _axes("share of the run, %", "grown, KiB")
    for colour, (what, run) in zip(_COLOURS, _soaks(results), strict=False):
        series = np.array(run["resident_bytes"][run.get("first_settled", 0) :], np.float64)
        at = np.linspace(0.0, 100.0, len(series))
        axis.plot(at, (series - series[0]) / 1024.0, color=colour, label=what)
    axis.legend(frameon=False)
    return figure


def drift_curves(results: Mapping[str, Any]) -> Figure:
    """p50 over a soak, by that of its first part."""
    figure, axis = _axes("share of the run, %", "p50 by the first part's")
    for colour, (what, run) in zip(_COLOURS, _soaks(results), strict=False):
        series = np.array(run["p50_us"])
        at = np.linspace(0.0, 100.0, len(series))
        axis.plot(at, series / max(series[0], 1e-9), color=colour, label=what)
    axis.set_ylim(bottom=0.0)
    axis.legend(frameon=False)
    return figure


def _soaks(results: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    names = {"pipeline": "pipeline", "server": "server", "real_time": "server, real time"}
    return [(label, results[key]) for key, label in names.items() if results.get(key)]


def capacity_curves(trials: Sequence[Mapping[str, Any]]) -> Figure:
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
            axis.plot(at, missed, "o-", color=colour, label=what)
    axis.set_ylim(bottom=0.0)
    axis.legend(frameon=False)
    return figure


def cpu_curves(found: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Processor time per frame over the number of characters, by transport and process."""
    figure, axis = _axes("characters at once", "CPU time per frame, us")
    kinds = [(transport, what) for transport in found for what in ("server", "echo")]
    for colour, (transport, what) in zip(_COLOURS, kinds, strict=False):
        trials = [t for t in found[transport]["trials"] if t["what"] == what]
        at, cost = zip(*sorted((t["characters"], t["cpu_us"]) for t in trials), strict=True)
        axis.plot(at, cost, "o-", color=colour, label=f"{what}, {transport}")
    axis.set_ylim(bottom=0.0)
    axis.legend(frameon=False)
    return figure


def growth_curve(growth: Mapping[str, Any], what: str) -> Figure:
    """The time of a solve over joints or rows."""
    costs = growth[f"over_{what}"]
    figure, axis = _axes(what, "one solve, us")
    axis.plot([c[what] for c in costs], [c["us"] for c in costs], "o-", color=_COLOURS[0])
    axis.set_xlim(left=0.0)
    axis.set_ylim(bottom=0.0)
    return figure


def _axes(along: str, up: str) -> tuple[Figure, Any]:  # Any: matplotlib's axes
    figure = Figure(figsize=(8.0, 4.2), layout="constrained")
    axis = figure.subplots()
    axis.set_xlabel(along)
    axis.set_ylabel(up)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25)
    return figure, axis


def _image(title: str, figure: Figure) -> str:
    memory = io.BytesIO()
    figure.savefig(memory, format="png", dpi=110)
    data = base64.b64encode(memory.getvalue()).decode("ascii")
    name = html.escape(title)
    return f'<h2>{name}</h2><img alt="{name}" src="data:image/png;base64,{data}">'


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
    rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in table.rows]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<h2>{html.escape(table.title)}</h2><table><tr>{head}</tr>{body}</table>"


def _checks(checks: Sequence[Check]) -> str:
    rows = []
    for check in checks:
        kind, word = _VERDICTS[check.passed]
        rows.append(
            f"<tr><td>{html.escape(check.name)}</td><td>{check.value:.4g} {check.unit}</td>"
            f"<td>{html.escape(check.sense)} {check.limit:g}</td>"
            f'<td class="{kind}">{word}</td></tr>'
        )
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _machine_line(meta: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in meta["versions"].items())
    return (
        f"{meta['time']}, commit {meta['commit']}, {meta['cpu']} ({meta['cores']} cores),"
        f" {meta['platform']}; {versions}"
    )
