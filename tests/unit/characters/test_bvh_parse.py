"""What the BVH reader says about files that are wrong: one line, the right one, and never worse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.bvh_text import POSITIONS, ROTATIONS, Sketch, bvh_text
from understudy.characters import Clip, ClipError, read_bvh
from understudy.characters.bvh_parse import parse_bvh

JOINTS = [
    Sketch("Hips", -1, (0.0, 90.0, 0.0), POSITIONS + ROTATIONS),
    Sketch("Spine", 0, (0.0, 20.0, 0.0), tip=(0.0, 30.0, 0.0)),
    Sketch("Leg", 0, (10.0, -5.0, 0.0), tip=(0.0, -80.0, 0.0)),
]
ROWS = np.arange(24, dtype=np.float64).reshape(2, 12)
GOOD = bvh_text(JOINTS, ROWS)
# Lines of GOOD, counted from 1: ROOT 2, its OFFSET 4 and CHANNELS 5; Spine 6 to 14 with its
# CHANNELS in 9 and its End Site from 10; MOTION 25, Frames 26, Frame Time 27, rows 28 and 29.


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "take.bvh"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_the_text_is_read_as_written(tmp_path: Path) -> None:
    text = parse_bvh(write(tmp_path, GOOD))
    assert [(joint.name, joint.parent) for joint in text.joints] == [
        ("Hips", -1),
        ("Spine", 0),
        ("Leg", 0),
    ]
    assert [joint.first_channel for joint in text.joints] == [0, 6, 9]
    assert text.joints[0].channels == POSITIONS + ROTATIONS
    assert text.joints[2].tip == (0.0, -80.0, 0.0)
    assert text.frame_time_s == 0.0333333
    assert np.array_equal(text.motion, ROWS)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("HIERARCHY\n", "", 1, "expected 'HIERARCHY', found 'ROOT'"),
        ("ROOT Hips", "JOINT Hips", 2, "expected 'ROOT', found 'JOINT'"),
        ("ROOT Hips", "ROOT", 2, "expected the name of a joint, found none"),
        ("JOINT Leg", "JOINT Spine", 15, "'Spine' again (line 6)"),
        ("JOINT Spine\n  {", "JOINT Spine\n", 8, "expected '{', found 'OFFSET'"),
        ("OFFSET 0.0 90.0 0.0", "OFFSET 0.0 90.0", 5, "the OFFSET of 'Hips', found 'CHANNELS'"),
        ("OFFSET 0.0 90.0 0.0", "OFFSET 0.0 9o 0.0", 4, "the OFFSET of 'Hips', found '9o'"),
        ("OFFSET 0.0 90.0 0.0", "OFFSET 0.0 nan 0.0", 4, "found nan"),
        ("OFFSET 0.0 90.0 0.0", "OFFSET 0.0 1e30 0.0", 4, "found 1e30"),
        ("OFFSET 0.0 90.0 0.0\n", "\n", 24, "expected an OFFSET in joint 'Hips', found none"),
        ("CHANNELS 6", "CHANNELS 5", 5, "expected 5 channels of 'Hips', found 6"),
        ("CHANNELS 6", "CHANNELS six", 5, "expected the number of channels, found 'six'"),
        ("CHANNELS 6 Xposition", "CHANNELS 6 Xpos", 5, "found 'Xpos'"),
        ("Xposition Yposition", "Xposition Xposition", 5, "found Xposition again"),
        ("    End Site\n    {", "    End Site\n", 12, "expected '{', found 'OFFSET'"),
        ("    OFFSET 0.0 20.0 0.0", "    WIBBLE 3", 8, "in joint 'Spine', found 'WIBBLE'"),
        ("MOTION\n", "ROOT Second\n{\n}\nMOTION\n", 25, "expected one ROOT, found a second"),
        ("MOTION\n", "}\nMOTION\n", 25, "expected MOTION after the hierarchy, found '}'"),
        ("}\nMOTION\n", "\nMOTION\n", 23, "expected '}' to close joint 'Hips' of line 2"),
        ("Frames: 2\n", "", 26, "expected 'Frames: <count>', found 'Frame Time"),
        ("Frames: 2", "Frames: two", 26, "expected a count of frames, found 'two'"),
        ("Frames: 2", "Frames: 3", 29, "expected 3 frames (Frames:), found 2"),
        ("Frames: 2", "Frames: 1", 29, "expected 1 frames (Frames:), found 2"),
        ("Frame Time: 0.0333333", "Frame Time: soon", 27, "the frame time, found 'soon'"),
        ("Frame Time: 0.0333333", "Frame Time: 0.0", 27, "a frame time above zero, found '0.0'"),
        ("Frame Time: 0.0333333", "Frame Time: -1", 27, "a frame time above zero, found '-1'"),
        (" 23.0\n", "\n", 29, "expected 12 numbers, found 11"),
        (" 23.0\n", " 23.0 24.0\n", 29, "expected 12 numbers, found 13"),
        (" 23.0\n", " nan\n", 29, "for channel 12, found nan"),
        (" 23.0\n", " inf\n", 29, "for channel 12, found inf"),
        (" 23.0\n", " 2,5\n", 29, "expected a number for channel 12, found '2,5'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, said: str
) -> None:
    assert GOOD.count(old) >= 1
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ClipError) as refusal:
        read_bvh(path)
    text = str(refusal.value)
    assert text.startswith(f"{path}:{line}: ")
    assert said in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "expected 'HIERARCHY', found the end"),
        (b" \r\n\n", "expected 'HIERARCHY', found the end"),
        (b"glTF\x02\0\0\0\x10\0", "expected the text of a BVH file, found binary data"),
        (b"\xff\xfeH\0I\0", "found binary data"),
        (b"solid cube\n", "expected 'HIERARCHY', found 'solid'"),
        (b"MOTION\nFrames: 0\nFrame Time: 1\n", "expected 'HIERARCHY', found the end"),
    ],
)
def test_files_of_another_kind_are_refused(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(ClipError) as refusal:
        read_bvh(write(tmp_path, data))
    assert said in str(refusal.value)


def test_a_missing_file_and_a_folder_are_refused_in_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.bvh", tmp_path):
        with pytest.raises(ClipError, match="cannot be read") as refusal:
            read_bvh(path)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "variant",
    [
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.replace("\n", " \t\n"),
        GOOD.replace("\n", "\n\n"),
        GOOD.replace("  ", "\t"),
        GOOD.replace("\n{", " {").replace("\n  {", "{"),
        GOOD.rstrip("\n"),
        GOOD.replace("Frames: 2", "Frames:\t2").replace("Frame Time: ", "Frame Time:\t"),
        GOOD.replace("23.0", "2.3e+1").replace(" 1.0", " 1").replace(" 2.0 ", " +2. "),
        GOOD.replace("0.0 90.0 0.0", "-0 90 1e-17"),
        "\ufeff" + GOOD,
        GOOD.replace("Xposition", "XPosition").replace("End Site", "End site"),
    ],
)
def test_spelling_and_layout_do_not_matter(tmp_path: Path, variant: str) -> None:
    expected = read_bvh(write(tmp_path, GOOD)).clip
    clip = read_bvh(write(tmp_path, variant)).clip
    assert clip.skeleton.names == expected.skeleton.names
    assert np.allclose(clip.skeleton.offsets, expected.skeleton.offsets, atol=1e-15)
    assert np.array_equal(clip.skeleton.tips, expected.skeleton.tips)
    assert np.array_equal(clip.roots, expected.roots)
    assert np.array_equal(clip.rotations_xyzw, expected.rotations_xyzw)


def test_names_may_hold_blanks_and_letters_of_any_encoding(tmp_path: Path) -> None:
    names = read_bvh(write(tmp_path, GOOD.replace("Spine", "Upper  Body"))).clip.skeleton.names
    assert names == ("Hips", "Upper Body", "Leg")
    names = read_bvh(write(tmp_path, GOOD.replace("Spine", "Rücken"))).clip.skeleton.names
    assert names[1] == "Rücken"
    latin = GOOD.replace("Spine", "Rücken").encode("latin-1")
    assert read_bvh(write(tmp_path, latin)).clip.skeleton.names[1] == "Rücken"


def outcome(path: Path) -> Clip | str:
    """The clip, or the one line that refuses it; any other error fails the test."""
    try:
        return read_bvh(path).clip
    except ClipError as refusal:
        return str(refusal)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(0, len(GOOD) - 1))
def test_a_truncated_file_is_refused_or_ends_at_a_whole_section(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path, GOOD[:cut])
    result = outcome(path)
    if isinstance(result, str):
        assert result.startswith(f"{path}:")
    else:
        # Cut after the hierarchy, or inside the last number, which no reader can notice.
        assert result.frame_count == 0 or cut > len(GOOD) - len("23.0\n")


SHARDS = (
    *("{", "}", "ROOT x", "JOINT Hips", "End Site", "OFFSET", "CHANNELS 3", "CHANNELS 0", "MOTION"),
    *("Frames: 99999999999999999999", "Frame Time: 1e-300", "nan", "1e400", "-1e9", "1_0", "٣"),
    *("\0", "\x0c", "\x85", "\u2028", "Xrotation", "9" * 5000, "Frames:", ":"),
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=400
)
@given(data=st.data())
def test_nothing_but_a_clip_error_ever_leaves(tmp_path: Path, data: st.DataObject) -> None:
    text = GOOD
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        drop = data.draw(st.integers(0, 30))
        shard = data.draw(st.one_of(st.sampled_from(SHARDS), st.text(max_size=6)))
        space = data.draw(st.sampled_from(["", " ", "\n"]))
        text = text[:at] + space + shard + space + text[at + drop :]
    result = outcome(write(tmp_path, text.encode("utf-8", "surrogatepass")))
    if isinstance(result, str):
        assert "\n" not in result
    else:
        assert np.all(np.isfinite(result.skeleton.offsets))
