"""The golden vectors: our reader agrees with every one, and they are what the generator writes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from understudy_protocol import KINDS, OPERATIONS, ProtocolError
from understudy_protocol.vectors import Read, read, write_vectors

PROTOCOL = Path(__file__).resolve().parents[2] / "protocol"
VECTORS = PROTOCOL / "vectors"
SPEC = (PROTOCOL / "spec" / "README.md").read_text(encoding="utf-8")
VALID = sorted(VECTORS.glob("*.bin"))
INVALID = sorted((VECTORS / "invalid").glob("*.bin"))


def twin(path: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(path.with_suffix(".json").read_text("utf-8")))


def files(folder: Path) -> dict[str, bytes]:
    found = [p for p in folder.rglob("*") if p.suffix in (".bin", ".json")]
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


@pytest.mark.parametrize("path", VALID, ids=lambda p: p.stem)
def test_valid_vector_is_read_as_its_twin_says(path: Path) -> None:
    expected = twin(path)
    assert read(cast("Read", expected["kind"]), path.read_bytes()) == expected["content"]


@pytest.mark.parametrize("path", INVALID, ids=lambda p: p.stem)
def test_invalid_vector_is_refused_for_the_reason_in_its_twin(path: Path) -> None:
    expected = twin(path)
    with pytest.raises(ProtocolError) as caught:
        read(cast("Read", expected["kind"]), path.read_bytes())
    assert caught.value.reason == expected["reason"]
    text = str(caught.value)
    assert text
    assert "\n" not in text
    assert len(text) < 300


def test_the_generator_writes_exactly_the_files_that_are_checked_in(tmp_path: Path) -> None:
    assert write_vectors(tmp_path) == len(VALID) + len(INVALID)
    fresh, kept = files(tmp_path), files(VECTORS)
    assert sorted(fresh) == sorted(kept)
    assert [name for name in fresh if fresh[name] != kept[name]] == []


def test_the_generator_is_a_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "understudy_protocol.vectors"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=True)
    assert str(tmp_path) in done.stdout
    assert len(list(tmp_path.glob("*.bin"))) == len(VALID)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


def test_there_is_a_valid_and_an_invalid_vector_of_every_kind() -> None:
    kinds = {*KINDS, "request", "reply", "topic"}
    assert {twin(path)["kind"] for path in VALID} == kinds
    assert {twin(path)["kind"] for path in INVALID} == kinds
    requests = [twin(path)["content"] for path in VALID if path.stem.startswith("request-")]
    assert {request["op"] for request in requests} == set(OPERATIONS)
    assert len(INVALID) >= 30


def test_the_specification_lists_the_reasons_that_the_vectors_show() -> None:
    table = SPEC.split("## 10. Refusals")[1].split("## 11.")[0]
    listed = set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE))
    shown = {twin(path)["reason"] for path in INVALID}
    # A vector is one body of reasonable size; these two are tested without one.
    assert shown == listed - {"bad-parts", "too-large"}


def test_the_bytes_printed_in_the_specification_are_those_of_the_vector() -> None:
    listing = SPEC.split("A frame byte by byte")[1].split("```")[1]
    printed = bytes.fromhex("".join(line.split("#")[0] for line in listing.splitlines()))
    assert printed == (VECTORS / "frame-minimal.bin").read_bytes()
