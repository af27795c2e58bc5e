"""glTF files that are damaged, hostile or nonsense: a RigError of one line, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.gltf_files import GltfBuilder, glb_bytes
from support.shared import shared_files
from understudy.characters.gltf import load_rig
from understudy.characters.rig import RigError

RIGS = [*shared_files("rigs/*.glb"), *shared_files("rigs/*.vrm")]


def sample() -> GltfBuilder:
    builder = GltfBuilder()
    skin = builder.skin(builder.chain(builder.node("top"), "hips", "spine", "head"))
    builder.skinned_mesh(skin, [[0, 1, 0], [0, 2, 0], [0, 3.5, 0]], [0, 1, 2])
    bones = [{"bone": "hips", "node": 1}, {"bone": "head", "node": 3}]
    builder.document["extensions"] = {"VRM": {"humanoid": {"humanBones": bones}}}
    return builder


def test_a_file_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    data = sample().glb()
    path = tmp_path / "cut.glb"
    for length in [*range(0, len(data), 7), len(data) - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(RigError, match=r"^cut\.glb: [^\n]+$"):
            load_rig(path)


def refusal(path: Path) -> str:
    """Why a file is refused; empty if it loads, and then it must be usable."""
    try:
        rig = load_rig(path)
    except RigError as error:
        return str(error)
    assert np.all(np.isfinite(rig.skeleton.offsets))
    assert np.isfinite(rig.floor_m)
    return ""


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    changes=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=6
    )
)
def test_changed_bytes_load_or_are_refused(
    tmp_path: Path, changes: list[tuple[float, int]]
) -> None:
    data = bytearray(sample().glb())
    for where, value in changes:
        data[int(where * len(data))] = value
    path = tmp_path / "changed.glb"
    path.write_bytes(bytes(data))
    assert "\n" not in refusal(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 20) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            found += places(inner, (*path, key))
    return found


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_value_anywhere_in_the_document_loads_or_is_refused(
    tmp_path: Path, data: st.DataObject
) -> None:
    builder = sample()
    document = json.loads(json.dumps(builder.finished()))
    *way, last = data.draw(st.sampled_from(places(document)))
    owner = document
    for key in way:
        owner = owner[key]
    owner[last] = data.draw(JSON)
    path = tmp_path / "changed.glb"
    path.write_bytes(glb_bytes(document, builder.binary))
    assert "\n" not in refusal(path)


@pytest.mark.parametrize("bits", [0x7FC00000, 0x7FA00000, 0x7F800000], ids=["nan", "snan", "inf"])
def test_numbers_that_are_none_in_the_buffers_are_refused(tmp_path: Path, bits: int) -> None:
    builder = sample()
    builder.binary = bits.to_bytes(4, "little") + builder.binary[4:]
    with pytest.raises(RigError, match="accessor 0 holds numbers that are not finite"):
        load_rig(builder.write(tmp_path / "nan.glb"))


@pytest.mark.parametrize("path", RIGS, ids=lambda path: path.name)
def test_a_real_file_cut_short_is_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    cut = tmp_path / path.name
    for length in np.linspace(0, len(data) - 1, 15).astype(int):
        cut.write_bytes(data[:length])
        with pytest.raises(RigError):
            load_rig(cut)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"asset": {"version": "1.0"}}, "only version 2"),
        ({"asset": {"version": "2.0"}}, "no nodes"),
        ({"asset": {"version": "2.0"}, "nodes": [{"name": "a"}]}, "no skin and no VRM humanoid"),
        ({"asset": {"version": "2.0"}, "nodes": [{"children": [0]}]}, "its own ancestor"),
        ({"asset": {"version": "2.0"}, "nodes": [{"children": [2]}, {"children": [2]}, {}]}, "two"),
        ({"asset": {"version": "2.0"}, "nodes": [{"children": [7]}]}, "from 0 to 0"),
        ({"asset": {"version": "2.0"}, "nodes": [{"rotation": [0, 0, 0, 0]}]}, "length zero"),
        ({"asset": {"version": "2.0"}, "nodes": [{"scale": [1, 1]}]}, "2 numbers, expected 3"),
        ({"asset": {"version": "2.0"}, "nodes": [{}], "skins": [{"joints": []}]}, "no joints"),
        ({"asset": {"version": "2.0"}, "nodes": [{}], "skins": [{"joints": [0, 0]}]}, "twice"),
    ],
)
def test_a_document_that_makes_no_sense_is_refused_with_the_reason(
    tmp_path: Path, document: dict[str, Any], reason: str
) -> None:
    path = tmp_path / "wrong.gltf"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RigError, match=rf"^wrong\.gltf: .*{reason}"):
        load_rig(path)


def test_a_missing_file_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(RigError, match=r"^nobody\.glb: cannot be read"):
        load_rig(tmp_path / "nobody.glb")
