"""Live contacts, stance goals and reach, as the aligner hands them to the solvers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from support.humanoids import scaled
from understudy.align import CONTACT_NAMES, Aligner
from understudy.characters import Clip, builtin_character, builtin_clip
from understudy.characters.builtin.walk import walk_stance
from understudy.kinematics import FloatArray, ForwardKinematics, Skeleton, rotations
from understudy.solvers import create_solver

WARM_UP_S = 0.25


class Followed:
    """Everything an aligner said about a clip: goals (T, 4, 12), contacts (T, 4), heads (T, 6)."""

    def __init__(self, clip: Clip, aligner: Aligner, shift: FloatArray | None = None) -> None:
        frames = clip.frame_count
        self.goals = np.zeros((frames, 4, 12))
        self.contacts = np.zeros((frames, len(CONTACT_NAMES)))
        self.heads = np.zeros((frames, 6))
        for t in range(frames):
            pose = clip.pose(t)
            root = pose.root if shift is None else pose.root + shift
            targets = aligner.align(root, pose.rotations_xyzw, 1.0 / clip.rate_hz, t == 0)
            self.goals[t] = targets.goals
            self.contacts[t] = targets.contacts
            self.heads[t] = targets.head


def scored(clip: Clip) -> slice:
    return slice(int(WARM_UP_S * clip.rate_hz), None)


@pytest.fixture(scope="module", params=[30.0, 60.0, 120.0])
def walk(request: pytest.FixtureRequest) -> Clip:
    return builtin_clip("walk", request.param)


def stance_of(clip: Clip) -> NDArray[np.int8]:
    return walk_stance(clip.rate_hz)


def test_the_standing_foot_is_seen_planted(walk: Clip) -> None:
    aligner = Aligner(walk.skeleton, builtin_character("short-legs"))
    followed = Followed(walk, aligner)
    stance = stance_of(walk)
    seen = np.array(
        [max(followed.contacts[t, 2 * s : 2 * s + 2]) > 0.5 for t, s in enumerate(stance)]
    )
    assert seen[scored(walk)].mean() > 0.95


def test_a_swinging_foot_is_seen_free(walk: Clip) -> None:
    followed = Followed(walk, Aligner(walk.skeleton, builtin_character("giant")))
    planted = followed.contacts.max(axis=1)
    both = np.minimum(followed.contacts[:, :2].max(axis=1), followed.contacts[:, 2:].max(axis=1))
    # Somebody who walks has one foot in the air for a good part of the time.
    assert (both[scored(walk)] < 0.5).mean() > 0.35
    assert (planted[scored(walk)] > 0.5).mean() > 0.9


def test_a_planted_pivot_has_a_goal_that_stands_still(walk: Clip) -> None:
    followed = Followed(walk, Aligner(walk.skeleton, builtin_character("short-legs")))
    held = 0
    for foot in range(2):
        toe = followed.contacts[:, 2 * foot]
        goal = followed.goals[:, 2 + foot, 3:6]
        for t in range(int(WARM_UP_S * walk.rate_hz) + 1, walk.frame_count):
            if toe[t] == 1.0 and toe[t - 1] == 1.0:
                held += 1
                # within rounding, unless the leg is stretched and the goal gives in
                assert np.hypot(*(goal[t, [0, 2]] - goal[t - 1, [0, 2]])) < 1e-9
    assert held > 0.2 * walk.frame_count


def ankles(followed: Followed) -> FloatArray:
    """The feet's goals (T, 2, 3), their ankles' ways from the root (m)."""
    feet = followed.goals[:, 2:]
    pivots = rotations.rotate(feet[..., 6:10], feet[..., :3])
    return np.asarray(feet[..., 3:6] - pivots - followed.heads[:, None, :3])


@pytest.mark.parametrize("factor", [0.5, 2.5])
def test_ankles_stand_below_the_hips_however_long_the_feet_are(walk: Clip, factor: float) -> None:
    body = builtin_character("actor")
    longer = Skeleton.build(
        replace(joint, offset=np.asarray(joint.offset) * (1.0, 1.0, factor))
        if joint.name.endswith("Toes")
        else joint
        for joint in body.joints()
    )
    own = Followed(walk, Aligner(walk.skeleton, body))
    other = Followed(walk, Aligner(walk.skeleton, longer))
    flat = own.contacts.reshape(-1, 2, 2).min(axis=2) == 1.0
    assert flat.mean() > 0.1
    off = np.linalg.norm(ankles(other) - ankles(own), axis=-1)[flat]
    assert off.mean() < 0.02


@pytest.mark.parametrize(("upper", "posed"), [(1.0, False), (0.45, True)])
def test_hands_go_where_the_performers_do_unless_the_arms_divide_otherwise(
    upper: float, posed: bool
) -> None:
    clip = builtin_clip("wave", 60.0)
    body = builtin_character("actor")
    lengths = {"leftLowerArm": upper, "rightLowerArm": upper}
    target = scaled(body, {**lengths, "leftHand": 1.3, "rightHand": 1.3})
    followed = Followed(clip, aligner := Aligner(clip.skeleton, target))
    shoulder, hand = target.index("rightUpperArm"), target.index("rightHand")
    performer, character = ForwardKinematics(body), ForwardKinematics(target)
    for t in range(0, clip.frame_count, 10):
        pose = clip.pose(t)
        performer.update(pose.root, pose.rotations_xyzw)
        character.update(followed.heads[t, :3].copy(), pose.rotations_xyzw)  # twins copy angles
        ratio = aligner.alignment.arm_ratios[1]
        reach = ratio * (performer.positions[hand] - performer.positions[shoulder])
        expected = character.positions[hand] if posed else character.positions[shoulder] + reach
        np.testing.assert_allclose(followed.goals[t, 1, 3:6], expected, atol=1e-9)


@pytest.mark.parametrize("height", [-0.4, 0.37, 3.0])
def test_a_floor_that_is_not_at_zero_is_found(height: float) -> None:
    clip = builtin_clip("walk", 60.0)
    target = builtin_character("child")
    here = Followed(clip, Aligner(clip.skeleton, target))
    there = Followed(clip, Aligner(clip.skeleton, target), np.array([0.0, height, 0.0]))
    np.testing.assert_allclose(there.contacts, here.contacts, atol=1e-6)
    np.testing.assert_allclose(there.goals, here.goals, atol=1e-6)
    np.testing.assert_allclose(there.heads, here.heads, atol=1e-6)


def climbing(clip: Clip, height: float) -> Clip:
    """A walk that goes up by `height` (m) between its third and fourth second."""
    seconds = np.arange(clip.frame_count) / clip.rate_hz
    x = np.clip(seconds - 3.0, 0.0, 1.0)
    roots = clip.roots.copy()
    roots[:, 1] += height * x * x * (3.0 - 2.0 * x)
    return Clip("climbing", clip.skeleton, clip.rate_hz, roots, clip.rotations_xyzw)


def test_a_foot_on_a_step_is_planted_at_the_steps_height(walk: Clip) -> None:
    clip = climbing(walk, 0.4)
    aligner = Aligner(walk.skeleton, builtin_character("short-legs"))
    followed = Followed(clip, aligner)
    stance = stance_of(walk)
    above = np.arange(int(4.5 * walk.rate_hz), walk.frame_count)
    seen = [followed.contacts[t, 2 * stance[t] : 2 * stance[t] + 2].max() > 0.5 for t in above]
    assert np.mean(seen) > 0.85
    lowest = np.minimum(followed.goals[above, 2, 4], followed.goals[above, 3, 4])
    level = followed.goals[scored(walk), 2:, 4][: int(2.5 * walk.rate_hz)].min()
    risen = np.median(lowest) - level
    assert abs(risen - 0.4 * aligner.alignment.leg_scale) < 0.03


def test_a_foot_drawn_up_is_where_the_copied_posture_has_it() -> None:
    clip = builtin_clip("walk", 60.0)
    target = builtin_character("short-legs")
    aligner = Aligner(clip.skeleton, target)
    body = aligner.alignment.target_body
    pose = clip.pose(0)
    for name, angle in (("leftUpperLeg", -1.8), ("leftLowerLeg", 2.0)):
        joint = clip.skeleton.index(name)
        turn = rotations.exp(np.array([angle, 0.0, 0.0]))
        pose.rotations_xyzw[joint] = rotations.multiply(pose.rotations_xyzw[joint], turn)
    for t in range(60):
        targets = aligner.align(pose.root, pose.rotations_xyzw, 1.0 / 60.0, t == 0)
    copied = ForwardKinematics(target)
    copied.update(targets.root.copy(), targets.rotations_xyzw.copy())
    foot, hip = int(body.feet[0]), int(body.upper_legs[0])
    goal = targets.positions[2] - rotations.rotate(targets.orientations_xyzw[2], targets.points[2])
    wanted = copied.positions[foot] - copied.positions[hip]
    assert targets.contacts[2:].max() == 1.0  # the other foot stands
    assert np.linalg.norm(goal - copied.positions[hip] - wanted) < 0.05 * body.leg_length


@pytest.mark.parametrize(("noise_m", "share"), [(0.002, 0.98), (0.005, 0.95), (0.01, 0.95)])
@pytest.mark.parametrize("seed", [3, 4])
def test_contacts_survive_a_noisy_capture(noise_m: float, share: float, seed: int) -> None:
    clip = builtin_clip("walk", 30.0)
    rng = np.random.default_rng(seed)
    noisy = Clip(
        "noisy",
        clip.skeleton,
        clip.rate_hz,
        clip.roots + rng.normal(0.0, noise_m, clip.roots.shape),
        clip.rotations_xyzw,
    )
    followed = Followed(noisy, Aligner(clip.skeleton, builtin_character("short-legs")))
    stance = stance_of(clip)
    seen = np.array(
        [max(followed.contacts[t, 2 * s : 2 * s + 2]) > 0.5 for t, s in enumerate(stance)]
    )
    assert seen[scored(clip)].mean() > share
    both = np.minimum(followed.contacts[:, :2].max(axis=1), followed.contacts[:, 2:].max(axis=1))
    assert (both[scored(clip)] < 0.5).mean() > 0.35


def test_steps_as_performed_are_as_long_as_the_performers() -> None:
    clip = builtin_clip("walk", 60.0)
    target = builtin_character("short-legs")
    scaled = Followed(clip, Aligner(clip.skeleton, target))
    performed = Followed(clip, Aligner(clip.skeleton, target, stride="performed"))
    way = [np.linalg.norm(f.heads[-1, [0, 2]] - f.heads[0, [0, 2]]) for f in (scaled, performed)]
    source = np.linalg.norm(clip.roots[-1, [0, 2]] - clip.roots[0, [0, 2]])
    assert abs(way[1] / source - 1.0) < 0.1
    assert abs(way[0] / source - Aligner(clip.skeleton, target).alignment.leg_scale) < 0.1


def test_feet_that_are_not_locked_follow_the_performer_freely() -> None:
    clip = builtin_clip("walk", 60.0)
    aligner = Aligner(clip.skeleton, builtin_character("actor"), lock_feet=False)
    followed = Followed(clip, aligner)
    assert np.all(followed.heads[:, 3] == -1.0)  # no base
    assert followed.contacts.max() == 1.0  # but contacts are told


def test_a_goal_beyond_the_leg_is_brought_within_reach() -> None:
    clip = builtin_clip("walk", 60.0)
    target = builtin_character("short-legs")
    aligner = Aligner(clip.skeleton, target)
    solver = create_solver("clik", target, aligner.effectors)
    leg = aligner.alignment.target_body.leg_length
    steps = []
    last = None
    for t in range(clip.frame_count):
        pose = clip.pose(t)
        # The pelvis rises by 12 cm and comes back: both legs would be far too short.
        lift = 0.12 * max(0.0, np.sin(np.pi * (t - 60) / 120.0)) if 60 <= t <= 180 else 0.0
        pose.root[1] += lift
        targets = aligner.align(pose.root, pose.rotations_xyzw, 1.0 / 60.0, t == 0)
        solution = solver.step(targets, 1.0 / 60.0)
        assert np.all(solution.residuals[2:] < 0.01)
        rotations = solution.rotations_xyzw.copy()
        if last is not None and t > 15:
            dots = np.abs(np.sum(rotations * last, axis=1)).clip(0.0, 1.0)
            steps.append(2.0 * np.arccos(dots).max())
        last = rotations
    assert leg > 0.5
    # No knee snaps straight: no joint turns faster than a brisk limb does.
    assert max(steps) < np.radians(600.0) / 60.0


def test_one_body_on_both_sides_is_copied() -> None:
    clip = builtin_clip("wave", 60.0)
    aligner = Aligner(clip.skeleton, builtin_character("actor"))
    for t in range(0, clip.frame_count, 7):
        pose = clip.pose(t)
        targets = aligner.align(pose.root, pose.rotations_xyzw, 1.0 / 60.0, t == 0)
        np.testing.assert_allclose(targets.rotations_xyzw, pose.rotations_xyzw, atol=1e-12)


def test_a_jump_forgets_the_offsets_of_planted_feet() -> None:
    clip = builtin_clip("walk", 60.0)
    target = builtin_character("short-legs")
    aligner, fresh = Aligner(clip.skeleton, target), Aligner(clip.skeleton, target)
    for t in range(200):
        pose = clip.pose(t)
        aligner.align(pose.root, pose.rotations_xyzw, 1.0 / 60.0, t == 0)
    pose = clip.pose(300)
    jumped = aligner.align(pose.root, pose.rotations_xyzw, 1.0 / 60.0, True)
    begun = fresh.align(pose.root, pose.rotations_xyzw, 1.0 / 60.0, True)
    np.testing.assert_allclose(jumped.goals, begun.goals, atol=1e-12)
    np.testing.assert_allclose(jumped.head, begun.head, atol=1e-12)


def test_what_is_aligned_depends_on_no_later_frame() -> None:
    clip = builtin_clip("throw", 60.0)
    target = builtin_character("bat-a")
    whole = Followed(clip, Aligner(clip.skeleton, target))
    half = Clip("half", clip.skeleton, clip.rate_hz, clip.roots[:60], clip.rotations_xyzw[:60])
    part = Followed(half, Aligner(clip.skeleton, target))
    assert np.array_equal(part.goals, whole.goals[:60])
    assert np.array_equal(part.contacts, whole.contacts[:60])
