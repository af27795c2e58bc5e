"""Enhancement as users meet it: a C3D file beside a clip, and markers in a live stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.c3d_files import C3dWriter
from support.live import LivePerformer, Subscriber, serving
from support.stage import PATIENCE, Stage
from understudy.characters import load_clip, read_bvh, write_bvh
from understudy.cli import main
from understudy.ingest import message_from_skeleton
from understudy.kinematics import FloatArray, ForwardKinematics
from understudy_protocol import Marker, encode_skeleton, with_skeleton_id

CLIP = load_clip("walk", 120.0)
BODY = CLIP.skeleton
MARKERS = (
    Marker("wrist", BODY.index("leftLowerArm"), np.array([0.2, 0.03, 0.0])),
    Marker("toe", BODY.index("rightFoot"), np.array([0.0, -0.05, 0.15])),
)
NOTHING_SEEN = np.full((2, 3), np.nan)


def carried(root: Any, rotations_xyzw: Any) -> FloatArray:
    """Where a pose of the body has its markers, (k, 3) m."""
    body = ForwardKinematics(BODY)
    body.update(np.array(root, np.float64), np.array(rotations_xyzw, np.float64))
    return np.array([body.point(m.joint, np.asarray(m.offset, np.float64)) for m in MARKERS])


@contextmanager
def marked(rate_hz: float | None = None, markers: tuple[Marker, ...] = MARKERS) -> Iterator[Stage]:
    """A server that enhances the actor, whose performer wears markers."""
    session: dict[str, Any] = {"performer": "alice", "character": "actor", "enhance": True}
    if rate_hz is not None:
        session["rate_hz"] = rate_hz
    message = with_skeleton_id(replace(message_from_skeleton(BODY), markers=markers))
    with (
        serving(session, performers={"alice": PATIENCE}) as server,
        closing(Stage(server, "actor", CLIP)) as stage,
    ):
        stage.performer.send_raw("skeleton", encode_skeleton(message))
        stage.performer.skeleton_id = message.id
        yield stage


@pytest.mark.parametrize("rate_hz", [None, 60.0], ids=["per frame", "clocked"])
def test_measured_points_pull_a_live_character_and_a_gap_lets_it_go(
    rate_hz: float | None,
) -> None:
    shift = np.array([[0.0, 0.05, 0.0], [0.0, 0.0, 0.0]])
    places = carried(CLIP.roots[0], CLIP.rotations_xyzw[0])
    with marked(rate_hz) as stage:
        stage.start(points=places)
        for _ in range(150):
            pose = stage.show(0, points=places + shift)
        pulled = carried(pose.root, pose.rotations_xyzw) - places
        assert 0.02 < pulled[0, 1] < 0.05
        for points in (NOTHING_SEEN, None):  # both say that nothing was seen
            for _ in range(90):
                pose = stage.show(0, points=points)
            np.testing.assert_allclose(carried(pose.root, pose.rotations_xyzw), places, atol=1e-4)


def test_the_markers_are_effectors_of_the_character() -> None:
    with marked() as stage:
        stage.start()
        assert stage.subscriber.skeleton().effectors == ("wrist", "toe")


def test_a_performer_without_markers_is_refused_in_one_line() -> None:
    with marked(markers=()) as stage:
        assert "the body has no markers" in stage.subscriber.event("refused").text


def test_another_body_is_refused_in_one_line() -> None:
    session = {"performer": "alice", "character": "child", "enhance": True}
    with serving(session) as server:
        subscriber = Subscriber(server.endpoints.output, "child")
        subscriber.skeleton()
        performer = LivePerformer("alice", server.endpoints.input, CLIP)
        assert "needs the same body on both sides" in subscriber.event("refused").text
        performer.close()
        subscriber.close()


def recorded(folder: Path) -> tuple[Path, Path]:
    """The walk as a BVH file, and beside it its markers, 3 cm high, in a C3D file (mm, Z up)."""
    clip = load_clip("walk")
    points = np.array([carried(r, q) for r, q in zip(clip.roots, clip.rotations_xyzw, strict=True)])
    points[::2, 0, 1] += 0.03
    x, y, z = np.moveaxis(points * 1000.0, -1, 0)
    c3d = C3dWriter().write(
        folder / "walk.c3d", np.stack([x, -z, y], -1), ("WRIST", "TOE"), rate_hz=clip.rate_hz
    )
    write_bvh(folder / "walk.bvh", clip)
    return folder / "walk.bvh", c3d


def test_a_clip_is_enhanced_by_a_c3d_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bvh, c3d = recorded(tmp_path)
    out = tmp_path / "out.bvh"
    assert main(["retarget", str(bvh), "--enhance", str(c3d), "-o", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["markers"].keys() == {"WRIST", "TOE"}
    assert told["markers"]["TOE"]["bone"] == "rightFoot"
    assert told["after_rms_mm"] < 0.7 * told["before_rms_mm"]
    assert told["left_out"] == []
    enhanced, original = read_bvh(out).clip, read_bvh(bvh).clip
    assert enhanced.skeleton.names == original.skeleton.names
    assert enhanced.frame_count == original.frame_count
    assert not np.allclose(enhanced.rotations_xyzw, original.rotations_xyzw, atol=1e-4)


def test_chosen_markers_and_the_figures_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bvh, c3d = recorded(tmp_path)
    words = ["retarget", str(bvh), "--enhance", str(c3d), "-o", str(tmp_path / "out.bvh")]
    assert main([*words, "--markers", "WRIST"]) == 0
    shown = capsys.readouterr().out
    assert "points: WRIST\n" in shown
    assert "mm before," in shown


def test_what_does_not_fit_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bvh, c3d = recorded(tmp_path)
    out = str(tmp_path / "out.bvh")
    faster = tmp_path / "faster.bvh"
    write_bvh(faster, load_clip("walk", 60.0))
    cases = [
        ([str(bvh), "--enhance", str(bvh)], "is not a C3D file"),
        ([str(faster), "--enhance", str(c3d)], "30 frames a second"),
        (["wave", "--enhance", str(c3d)], "frames, the motion"),
        ([str(bvh), "--enhance", str(c3d), "--markers", "NOSE"], "no marker 'NOSE'"),
    ]
    for words, problem in cases:
        assert main(["retarget", *words, "-o", out]) != 0
        complaint = capsys.readouterr().err
        assert problem in complaint
        assert len(complaint.strip().splitlines()) == 1
