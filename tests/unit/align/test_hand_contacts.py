"""Hands that rest on something, where a session asks for them."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.align import Aligner
from understudy.align.aligner import CONTACT_NAMES, HAND_CONTACT_NAMES
from understudy.characters import Clip, builtin_character
from understudy.kinematics import FloatArray, ForwardKinematics, rotations
from understudy.solvers import create_solver

RATE_HZ = 60.0
RIGHT_HAND = 1  # row of the effectors
RIGHT = len(CONTACT_NAMES) + 1


def leaning(height: float, down: float) -> Clip:
    """An actor who sways over a right hand that rests at `height` (m), hips lowered by `down`."""
    actor = builtin_character("actor")
    aligner = Aligner(actor, actor)
    solver = create_solver("clik", actor, aligner.effectors, {})
    rest = actor.rest_pose()
    place = np.array([-0.45, height, 0.25])
    frames = int(4 * RATE_HZ)
    roots, rotations = np.zeros((frames, 3)), np.zeros((frames, len(actor), 4))
    for t in range(frames):
        targets = aligner.align(rest.root, rest.rotations_xyzw, 1.0 / RATE_HZ, t == 0)
        targets.root[0] += 0.06 * np.sin(2.0 * np.pi * 0.4 * t / RATE_HZ)
        targets.root[1] -= down
        targets.positions[RIGHT_HAND] = place
        solution = solver.step(targets, 1.0 / RATE_HZ)
        roots[t], rotations[t] = solution.root, solution.rotations_xyzw
    return Clip("leaning", actor, RATE_HZ, roots, rotations)


def palm_way(clip: Clip, aligner: Aligner) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The right palm of a giant (T, 3) m, its goals, and the contacts seen (T, c)."""
    giant = aligner.alignment.target
    solver = create_solver("clik", giant, aligner.effectors, {})
    body = ForwardKinematics(giant)
    joint = aligner.effectors[RIGHT_HAND].joint
    palm = aligner.alignment.target_body.palms[1]
    palms, goals, contacts = [], [], []
    for t in range(clip.frame_count):
        pose = clip.pose(t)
        targets = aligner.align(pose.root, pose.rotations_xyzw, 1.0 / RATE_HZ, t == 0)
        goals.append(targets.positions[RIGHT_HAND].copy())
        contacts.append(targets.contacts.copy())
        solution = solver.step(targets, 1.0 / RATE_HZ)
        body.update(solution.root.copy(), solution.rotations_xyzw)
        palms.append(body.point(joint, palm))
    return np.array(palms), np.array(goals), np.array(contacts)


def test_a_resting_hand_is_seen_and_its_goal_stands_still() -> None:
    clip = leaning(0.9, 0.05)
    aligner = Aligner(clip.skeleton, builtin_character("giant"), hand_contacts=True)
    palms, goals, contacts = palm_way(clip, aligner)
    assert aligner.contact_names == CONTACT_NAMES + HAND_CONTACT_NAMES
    settled = slice(int(1.5 * RATE_HZ), None)
    assert np.all(contacts[settled, RIGHT] > 0.99)
    assert np.ptp(goals[settled], axis=0).max() < 1e-9
    assert np.ptp(palms[settled], axis=0).max() < 2e-3
    # The targets of the last frame: solvers are told that this hand does not yield.
    assert aligner.targets.planted[RIGHT_HAND] > 0.99
    # Without being asked, the palm of a larger body goes along with its shoulder.
    loose, _, none = palm_way(clip, Aligner(clip.skeleton, builtin_character("giant")))
    assert none.shape[1] == len(CONTACT_NAMES)
    assert np.ptp(loose[settled], axis=0).max() > 1e-2


def handstand() -> Clip:
    """An actor who stands with raised arms, turns over forwards and sways on both hands."""
    actor = builtin_character("actor")
    body = ForwardKinematics(actor)
    palms = Aligner(actor, actor).alignment.source_body.palms
    hands = [actor.index(f"{side}Hand") for side in ("left", "right")]
    feet = [actor.index(f"{side}Toes") for side in ("left", "right")]
    pose = actor.rest_pose()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        turn = rotations.exp(np.array([0.0, 0.0, sign * 0.5 * np.pi]))
        pose.rotations_xyzw[actor.index(f"{side}UpperArm")] = turn
    seconds = np.arange(int(4 * RATE_HZ)) / RATE_HZ
    x = np.clip(2.0 * (seconds - 1.0), 0.0, 1.0)
    angles = np.pi * x * x * (3.0 - 2.0 * x)
    angles += np.where(seconds > 1.5, 0.03 * np.sin(3.0 * (seconds - 1.5)), 0.0)
    roots, turned = np.zeros((len(seconds), 3)), np.zeros((len(seconds), len(actor), 4))
    on_hands, anchor = False, np.zeros(3)
    for t, angle in enumerate(angles):
        pose.rotations_xyzw[0] = rotations.exp(np.array([angle, 0.0, 0.0]))
        body.update(np.zeros(3), pose.rotations_xyzw)
        palm = np.mean([body.point(h, p) for h, p in zip(hands, palms, strict=True)], axis=0)
        foot = np.mean([body.positions[f] for f in feet], axis=0)
        if palm[1] < foot[1] and not on_hands:  # from here on it turns about where the palms land
            on_hands, anchor = True, anchor - foot + palm
            anchor[1] = 0.0
        roots[t] = anchor + np.array([0.0, 0.01, 0.0]) - (palm if on_hands else foot)
        turned[t] = pose.rotations_xyzw
    return Clip("handstand", actor, RATE_HZ, roots, turned)


@pytest.mark.parametrize("character", ["child", "giant"])
def test_a_hand_on_the_floor_is_on_the_characters_floor(character: str) -> None:
    clip = handstand()
    target = builtin_character(character)
    aligner = Aligner(clip.skeleton, target, hand_contacts=True)
    _, goals, contacts = palm_way(clip, aligner)
    settled = slice(int(2.5 * RATE_HZ), None)
    assert np.all(contacts[settled, len(CONTACT_NAMES) :] > 0.99)
    assert np.ptp(goals[settled][:, [0, 2]], axis=0).max() < 1e-9
    np.testing.assert_allclose(goals[settled, 1], 0.02 * aligner.alignment.leg_scale, atol=1e-3)


def test_a_hand_that_moves_is_led_by_its_wrist_as_ever() -> None:
    clip = leaning(0.9, 0.05)
    seconds = np.arange(clip.frame_count) / RATE_HZ
    roots = clip.roots.copy()
    roots[:, 2] += 1.2 * seconds  # the whole body travels
    moving = Clip("moving", clip.skeleton, RATE_HZ, roots, clip.rotations_xyzw)
    giant = builtin_character("giant")
    aligner = Aligner(clip.skeleton, giant, hand_contacts=True)
    _, asked, contacts = palm_way(moving, aligner)
    _, plain, _ = palm_way(moving, Aligner(clip.skeleton, giant))
    assert contacts[:, len(CONTACT_NAMES) :].max() < 1e-9
    assert aligner.targets.planted[RIGHT_HAND] == 0.0
    np.testing.assert_allclose(asked, plain, atol=1e-9)
