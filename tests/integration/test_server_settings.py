"""A session's settings in the middle of a walk: changed live, eased in, kept in the show file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from support.live import ControlClient, largest_turn_rad, root_step_m, serving
from support.stage import Stage, on_stage, staged
from understudy.config import Settings, ShowFile, load_config
from understudy.runtime.server import Server
from understudy_protocol import PoseMessage

HERO = "short-legs"
EASE_S = 0.3
RATE_HZ = 120.0
# How far the other stride takes the character at the most, and the slope of the way there.
LONGEST_WAY_M = 0.6
STEEPEST = 1.5
BETWEEN = 60  # frames at 120 Hz: more than the easing takes

EFFECTORS = ("leftHand", "rightHand", "leftFoot", "rightFoot")

SHOW = """\
# Tonight's show.
[server]
input = "tcp://127.0.0.1:*"
output = "tcp://127.0.0.1:*"
control = "tcp://127.0.0.1:*"

[performers.alice]
stale_after_s = 20.0  # no break

[[session]]
performer = "alice"   # her
character = "short-legs"
solver = "clik"

  [session.parameters]
  k1 = 0.5 # was 1
"""


def session(**settings: object) -> dict[str, object]:
    return {"performer": "alice", "character": HERO, **settings}


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged(session(), ease_s=EASE_S) as stage:
        yield stage


@pytest.fixture
def show(tmp_path: Path) -> Path:
    path = tmp_path / "show.toml"
    path.write_text(SHOW, encoding="utf-8")
    return path


def largest_steps(poses: list[PoseMessage]) -> tuple[float, float]:
    """The largest turn of a joint (rad) and step of the root (m) between two poses."""
    pairs = list(pairwise(poses))
    return (
        max(largest_turn_rad(a, b) for a, b in pairs),
        max(root_step_m(a, b) for a, b in pairs),
    )


@pytest.mark.parametrize(
    "settings", [{"stride": "performed"}, {"lock_feet": False}, {"smoothing": 1.0}]
)
def test_a_setting_changes_and_changes_back_without_a_jump(
    stage: Stage, settings: dict[str, object]
) -> None:
    calm = stage.walk(3 * BETWEEN)
    before = {key: stage.session()[key] for key in settings}
    poses = calm[-1:]
    for wanted in (settings, before):
        assert stage.set(**wanted).items() >= wanted.items()
        assert stage.session().items() >= wanted.items()
        poses += stage.walk(2 * BETWEEN)
    usual_turn, usual_step = largest_steps(calm)
    turn, step = largest_steps(poses)
    assert turn < 1.6 * usual_turn
    assert step < usual_step + LONGEST_WAY_M * STEEPEST / (EASE_S * RATE_HZ)


def test_steps_as_performed_are_as_long_as_the_performer_s(stage: Stage) -> None:
    scaled = stage.walk(2 * BETWEEN)
    stage.set(stride="performed")
    stage.walk(BETWEEN)
    performed = stage.walk(2 * BETWEEN)
    clip = stage.performer.clip
    measured = clip.roots[5 * BETWEEN - 1] - clip.roots[3 * BETWEEN]
    assert way_m(performed[0].root, performed[-1].root) == pytest.approx(
        float(np.linalg.norm(measured[[0, 2]])), rel=0.05
    )
    assert way_m(performed[0].root, performed[-1].root) > 1.2 * way_m(
        scaled[0].root, scaled[-1].root
    )


def test_a_still_performer_s_noise_is_smoothed_away(stage: Stage) -> None:
    def shaking(poses: list[PoseMessage]) -> float:
        return float(np.std([pose.rotations_xyzw for pose in poses], axis=0).max())

    rng = np.random.default_rng(1)
    clip = stage.performer.clip
    noise = rng.normal(0.0, 0.004, (4 * BETWEEN, *clip.rotations_xyzw.shape[1:]))
    trembling = np.tile(clip.rotations_xyzw[0], (4 * BETWEEN, 1, 1)) + noise
    trembling /= np.linalg.norm(trembling, axis=-1, keepdims=True)
    still = np.tile(clip.roots[0], (4 * BETWEEN, 1))
    stage.performer.clip = replace(clip, roots=still, rotations_xyzw=trembling)
    rough = stage.walk(2 * BETWEEN)[-BETWEEN:]
    stage.set(smoothing=1.0)
    smooth = stage.walk(2 * BETWEEN)[-BETWEEN:]
    assert shaking(smooth) < 0.35 * shaking(rough)


def test_settings_are_taken_before_the_performer_is_known() -> None:
    with (
        serving(session(stride="performed")) as server,
        closing(ControlClient(server.endpoints.control)) as control,
    ):
        reply = control.ask("set", character=HERO, lock_feet=False)
    assert (reply["stride"], reply["lock_feet"], reply["smoothing"]) == ("performed", False, 0.0)


@pytest.mark.parametrize(
    "fields",
    [{"stride": "long"}, {"smoothing": 0.5, "params": {"k1": 0.5, "nonsense": 1.0}}],
)
def test_a_setting_that_cannot_be_is_refused_and_changes_nothing(
    stage: Stage, fields: dict[str, object]
) -> None:
    before = stage.control.ask("list")["sessions"]
    assert stage.refused(**fields).reason == "bad-value"
    assert stage.control.ask("list")["sessions"] == before


def test_what_was_set_live_is_saved_into_the_show_file(show: Path) -> None:
    show_file = ShowFile(show)
    with Server(show_file.config, show_file) as server, on_stage(server, HERO) as stage:
        stage.walk(2)
        stage.set(params={"k1": 0.75, "k2": 0.625}, stride="performed", smoothing=0.25)
        stage.control.ask("open", performer="alice", character="guest", rig="giant")
        reply = stage.control.ask("save")
        live = stage.session()
    assert reply == {"file": str(show), "saved": [HERO], "left_out": ["guest"]}
    saved = load_config(show).sessions[0]
    assert saved.settings == Settings("performed", True, 0.25)
    assert saved.parameters == {"k1": 0.75, "k2": 0.625}
    assert {**live["params"], **saved.parameters} == live["params"]
    text = show.read_text(encoding="utf-8")
    assert text == SHOW.replace(
        'solver = "clik"\n', 'solver = "clik"\nstride = "performed"\nsmoothing = 0.25\n'
    ).replace("k1 = 0.5 # was 1\n", "k1 = 0.75 # was 1\n  k2 = 0.625\n")


def test_an_effector_s_softness_is_told_set_and_saved(show: Path) -> None:
    show_file = ShowFile(show)
    with Server(show_file.config, show_file) as server, on_stage(server, HERO) as stage:
        stage.set(solver="ukf")
        told = stage.session()["parameters"]
        names = [parameter["name"] for parameter in told]
        assert names == [f"softness.{limb}" for limb in EFFECTORS]
        stage.set(params={"softness.leftHand": 0.02})
        assert stage.session()["params"]["softness.leftHand"] == 0.02
        stage.control.ask("save")
    saved = load_config(show).sessions[0]
    assert (saved.solver, saved.parameters) == ("ukf", {"k1": 1.0, "softness.leftHand": 0.02})


def test_saving_is_refused_without_a_file(stage: Stage) -> None:
    assert stage.control.refused("save").reason == "no-file"


def test_saving_is_refused_after_a_change_by_hand(show: Path) -> None:
    show_file = ShowFile(show)
    with (
        Server(show_file.config, show_file) as server,
        closing(ControlClient(server.endpoints.control)) as control,
    ):
        control.ask("set", character=HERO, smoothing=0.5)
        edited = SHOW + "# a late remark\n"
        show.write_text(edited, encoding="utf-8")
        refusal = control.refused("save")
    assert refusal.reason == "not-saved"
    assert str(show) in refusal.text
    assert show.read_text(encoding="utf-8") == edited


def way_m(a: object, b: object) -> float:
    """The distance of two places over the floor."""
    return float(np.linalg.norm((np.asarray(b) - np.asarray(a))[[0, 2]]))
