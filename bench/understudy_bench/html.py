"""A report as a page: verdict, plots, tables and checks, in one file that needs nothing else."""

from __future__ import annotations

import base64
import html
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from matplotlib.figure import Figure

from understudy_bench.checks import Check
from understudy_bench.plots import plots
from understudy_bench.report import Report, Table

# Longer tables and lists of checks are folded away.
_LONGEST: Final = 24
_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem;
       color: #18181b; background: #fff; }
h1 { font-size: 1.5rem; margin-bottom: .3rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #e4e4e7; text-align: right;
         white-space: nowrap; }
th { color: #52525b; font-weight: 600; border-bottom: 2px solid #d4d4d8; }
th:first-child, td:first-child { text-align: left; }
tbody tr:hover { background: #fafafa; }
.wide { overflow-x: auto; }
.verdict { padding: .7rem 1rem; border-left: .35rem solid; background: #fafafa; margin: 1rem 0; }
.pass { color: #15803d; } .fail { color: #b91c1c; font-weight: 600; } .unsaid { color: #a16207; }
.note { color: #52525b; } ul.note { padding-left: 1.2rem; } img { max-width: 100%; }
summary { cursor: pointer; font-weight: 600; margin-top: 1.5rem; }
"""
_VERDICTS: Final = {True: ("pass", "pass"), False: ("fail", "FAIL"), None: ("unsaid", "too noisy")}


def write_page(report: Report, path: Path) -> None:
    """Write one page that needs nothing beside it."""
    short = [table for table in report.tables if len(table.rows) <= _LONGEST]
    long = [table for table in report.tables if len(table.rows) > _LONGEST]
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in report.notes)
    parts = [
        f"<h1>understudy bench {html.escape(report.bench)}</h1>",
        f'<div class="note">{html.escape(_machine_line(report.meta))}</div>',
        _verdict(report.checks),
        *(_image(title, figure) for title, figure in plots(report.bench, report.results)),
        *(f"<h2>{html.escape(table.title)}</h2>{_table(table)}" for table in short),
        f'<h2>how to read it</h2><ul class="note">{notes}</ul>' if notes else "",
        _checks(report.checks),
        *(_folded(f"{table.title}, {len(table.rows)} rows", _table(table)) for table in long),
    ]
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>understudy bench {html.escape(report.bench)}</title>"
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )
    path.write_text(page, encoding="utf-8")


def _verdict(checks: Sequence[Check]) -> str:
    """How many checks passed, failed, or could not be judged, in one line."""
    if not checks:
        return ""
    count = Counter(check.passed for check in checks)
    kind = "fail" if count[False] else "unsaid" if count[None] else "pass"
    words = [f"{count[True]} of {len(checks)} checks passed"]
    if count[False]:
        words.append(f"{count[False]} failed")
    if count[None]:
        words.append(f"of {count[None]} the machine was too noisy to tell")
    return f'<div class="verdict {kind}">{", ".join(words)}</div>'


def _image(title: str, figure: Figure) -> str:
    memory = io.BytesIO()
    figure.savefig(memory, format="png", dpi=130)
    data = base64.b64encode(memory.getvalue()).decode("ascii")
    name = html.escape(title)
    return f'<h2>{name}</h2><img alt="{name}" src="data:image/png;base64,{data}">'


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
    rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in table.rows]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return _markup(f"<tr>{head}</tr>", body)


def _checks(checks: Sequence[Check]) -> str:
    """Those that did not pass, then the others; folded away if they are many."""
    if not checks:
        return ""
    title = "<h2>checks</h2>"
    if len(checks) <= _LONGEST:
        return title + _check_table(checks)
    passed = [check for check in checks if check.passed is True]
    others = [check for check in checks if check.passed is not True]
    shown = _check_table(others) if others else ""
    if len(others) > _LONGEST:
        shown = _folded(f"{len(others)} that did not pass", shown)
    return title + shown + _folded(f"{len(passed)} that passed", _check_table(passed))


def _check_table(checks: Sequence[Check]) -> str:
    rows = []
    for check in checks:
        kind, word = _VERDICTS[check.passed]
        rows.append(
            f"<tr><td>{html.escape(check.name)}</td>"
            f"<td>{check.value:.4g} {html.escape(check.unit)}</td>"
            f"<td>{html.escape(check.sense)} {check.limit:g}</td>"
            f'<td class="{kind}">{word}</td></tr>'
        )
    return _markup("<tr><th>check</th><th>value</th><th>limit</th><th></th></tr>", "".join(rows))


def _markup(head: str, body: str) -> str:
    table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{html.escape(title)}</summary>{content}</details>"


def _machine_line(meta: Mapping[str, Any]) -> str:  # Any: what JSON carries
    versions = ", ".join(f"{name} {value}" for name, value in meta["versions"].items())
    return (
        f"{meta['time']}, commit {meta['commit']}, {meta['cpu']} ({meta['cores']} cores),"
        f" {meta['platform']}; {versions}"
    )
