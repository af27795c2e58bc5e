from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.bodies import random_pose
from support.humanoids import LIMBS, Reframed, actor, angle_deg, renamed, scaled
from understudy.align import Alignment, AlignmentError, MotionSample, Transfer, find_roles
from understudy.align._kernels import transfer as kernels
from understudy.align.calibration import at_rest_in
from understudy.align.rest_pose import canonical_pose
from understudy.kinematics import FloatArray, ForwardKinematics, Joint, Pose, Skeleton
from understudy.kinematics.rotations import exp, from_matrix, multiply

seeds = st.integers(0, 2**32 - 1)


def align(source: Skeleton, target: Skeleton, motion: MotionSample | None = None) -> Alignment:
    return Alignment.build(
        source, target, find_roles(source, motion=motion), find_roles(target), source_motion=motion
    )


class Copied:
    """A pose of the source and what the transfer makes of it."""

    def __init__(self, alignment: Alignment, pose: Pose, transfer: Transfer | None = None) -> None:
        self.source = ForwardKinematics(alignment.source)
        self.target = ForwardKinematics(alignment.target)
        self.source.update(pose.root.copy(), pose.rotations_xyzw.copy())
        self.rotations_xyzw = np.zeros((len(alignment.target), 4))
        self.root = np.zeros(3)
        (transfer or Transfer(alignment)).run(
            self.source.positions, pose.rotations_xyzw.copy(), self.rotations_xyzw, self.root
        )
        self.target.update(self.root, self.rotations_xyzw)

    def limbs(self, body: ForwardKinematics) -> FloatArray:
        index = body.skeleton.index
        return np.array([body.positions[index(b)] - body.positions[index(a)] for a, b in LIMBS])


def a_pose(skeleton: Skeleton, drop_rad: float) -> Pose:
    """The T-pose with both arms lowered."""
    pose = skeleton.rest_pose().copy()
    for side, sign in (("left", -1.0), ("right", 1.0)):
        i = skeleton.index(side + "UpperArm")
        pose.rotations_xyzw[i] = exp(np.array([0.0, 0.0, sign * drop_rad]))
    return pose


@settings(max_examples=12)
@given(seed=seeds)
def test_twins_copy_every_rotation_to_the_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body = actor()
    longer = scaled(body, {"leftLowerLeg": 1.3, "rightLowerLeg": 1.3, "leftHand": 0.7})
    alignment = align(body, longer)
    pose = random_pose(body, rng, 1.5)
    assert alignment.twins
    np.testing.assert_array_equal(Copied(alignment, pose).rotations_xyzw, pose.rotations_xyzw)


def test_a_body_that_drives_itself_stands_where_it_stands() -> None:
    rng = np.random.default_rng(4)
    body = actor()
    pose = random_pose(body, rng, 1.0)
    copied = Copied(align(body, body), pose)
    np.testing.assert_allclose(copied.root, pose.root, atol=1e-12)


@settings(max_examples=12)
@given(seed=seeds)
def test_axes_of_the_joints_do_not_matter(seed: int) -> None:
    """The same person and the same rest pose in other axes: the same posture in the world."""
    rng = np.random.default_rng(seed)
    body = actor()
    other = Reframed(body, rng)
    pose = random_pose(body, rng, 1.2)
    copied = Copied(align(body, other.skeleton), pose)
    np.testing.assert_allclose(copied.target.positions, copied.source.positions, atol=1e-9)
    expected = other.pose(pose).rotations_xyzw
    arms = [i for i, name in enumerate(body.names) if not name.endswith(("LowerArm", "Hand"))]
    dots = np.abs(np.sum(copied.rotations_xyzw * expected, axis=1))
    assert np.min(dots[arms]) > 1.0 - 1e-12  # forearms share the twist of their hands


@settings(max_examples=12)
@given(seed=seeds)
def test_limbs_point_the_same_way_whatever_the_rest_poses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body = actor()
    source = Reframed(at_rest_in(body, a_pose(body, rng.uniform(0.0, 1.4))), rng)
    target = Reframed(
        scaled(at_rest_in(body, a_pose(body, rng.uniform(0.0, 1.4))), {"leftLowerArm": 0.8}), rng
    )
    copied = Copied(
        align(source.skeleton, target.skeleton), source.pose(random_pose(body, rng, 1.2))
    )
    angles = angle_deg(copied.limbs(copied.source), copied.limbs(copied.target))
    assert np.max(angles) < 1e-6


def test_a_forearm_that_ends_in_fingers_points_to_the_middle_of_them() -> None:
    rng = np.random.default_rng(5)
    body = actor()
    # Bent at rest, so that the forearm must be straightened to be copied.
    joints = [joint for joint in body.joints() if not joint.name.endswith("Hand")]
    for side, out in (("left", 1.0), ("right", -1.0)):
        for finger, z in (("Index", 0.13), ("Little", 0.07)):
            joints.append(Joint(side + finger, side + "LowerArm", (0.25 * out, 0.0, z)))
    target = Skeleton.build(joints)
    copied = Copied(align(body, target), random_pose(body, rng, 1.0))
    index, ours = target.index, copied.target.positions
    for side in ("left", "right"):
        ends = [ours[index(side + finger)] for finger in ("Index", "Little")]
        theirs = copied.source.positions
        angle = angle_deg(
            np.mean(ends, axis=0) - ours[index(side + "LowerArm")],
            theirs[body.index(side + "Hand")] - theirs[body.index(side + "LowerArm")],
        )
        assert angle < 1e-6


def test_a_performer_who_does_not_face_z_at_rest_is_turned() -> None:
    body = actor()
    turned = body.rest_pose().copy()
    turned.rotations_xyzw[0] = exp(np.array([0.0, 2.0, 0.0]))
    alignment = align(at_rest_in(body, turned), body)
    copied = Copied(alignment, turned)
    np.testing.assert_allclose(
        copied.target.positions - copied.root, copied.source.positions - turned.root, atol=1e-9
    )


@settings(max_examples=12)
@given(seed=seeds)
def test_hinges_found_in_motion_bend_the_character_s_hinges(seed: int) -> None:
    """A performer whose arm axes were rolled at rest: motion shows how the elbow really bends."""
    rng = np.random.default_rng(seed)
    body = actor()
    rolled = body.rest_pose().copy()
    for name in ("leftUpperArm", "rightUpperArm"):
        i = body.index(name)
        rolled.rotations_xyzw[i] = exp(np.array([rng.uniform(-0.8, 0.8), 0.0, 0.0]))
    source = Reframed(at_rest_in(body, rolled), rng)
    frames = []
    for bend in np.linspace(0.5, 1.5, 8):
        pose = body.rest_pose().copy()
        for side, sign in (("left", -1.0), ("right", 1.0)):
            pose.rotations_xyzw[body.index(side + "LowerArm")] = exp(
                np.array([0.0, sign * bend, 0.0])
            )
        frames.append(source.pose(pose).rotations_xyzw)
    motion = MotionSample.from_frames(
        source.skeleton, np.tile(body.offsets[0], (8, 1)), np.array(frames), 30.0
    )
    turns = canonical_pose(source.skeleton, find_roles(source.skeleton), motion).turns
    truth = motion.rotations[0]
    for name in ("leftUpperArm", "rightUpperArm"):
        i = body.index(name)
        np.testing.assert_allclose(turns[i], truth[i], atol=1e-9)


def laid_along_x(skeleton: Skeleton) -> Skeleton:
    """The same body at rest with all bones along +X, as some capture software writes its files."""
    flat = skeleton.rest_pose().copy()
    fk = ForwardKinematics(skeleton)
    for i in range(1, len(skeleton)):
        fk.update(flat.root, flat.rotations_xyzw)
        parent = int(skeleton.parents[i])
        offset = fk.rotations[parent] @ skeleton.offsets[i]
        if np.linalg.norm(offset) > 1e-9:
            axis = np.cross(offset, [1.0, 0.0, 0.0])
            angle = np.arctan2(np.linalg.norm(axis), offset[0])
            turn = exp(fk.rotations[parent].T @ axis / max(np.linalg.norm(axis), 1e-12) * angle)
            flat.rotations_xyzw[parent] = multiply(flat.rotations_xyzw[parent], turn)
    return at_rest_in(skeleton, flat)


def test_a_rest_pose_that_is_no_posture_is_replaced_by_motion() -> None:
    rng = np.random.default_rng(11)
    body = actor()
    source = Reframed(body, rng)
    useless = laid_along_x(source.skeleton)
    poses = [source.pose(random_pose(body, rng, 0.9)) for _ in range(60)]
    motion = MotionSample.from_frames(
        useless,
        np.array([pose.root for pose in poses]),
        np.array([pose.rotations_xyzw for pose in poses]),
        30.0,
    )
    assert align(useless, body).needs_calibration
    alignment = align(useless, body, motion)
    assert not alignment.needs_calibration
    assert canonical_pose(useless, find_roles(useless, motion=motion), motion).from_motion
    copied = Copied(alignment, poses[0])
    angles = angle_deg(copied.limbs(copied.source), copied.limbs(copied.target))
    assert np.max(angles) < 1e-6


@pytest.mark.parametrize(("stands", "lifted"), [("left", "right"), ("right", "left")])
def test_a_foot_that_never_stands_is_laid_as_flat_as_the_other(stands: str, lifted: str) -> None:
    """The rest pose says nothing of the soles, and one foot hangs with its toes down all along."""
    rng = np.random.default_rng(12)
    body = actor()
    source = Reframed(body, rng)
    useless = laid_along_x(source.skeleton)
    frames = []
    for bend in np.linspace(0.8, 1.4, 20):
        pose = body.rest_pose().copy()
        for part, angle in (("UpperLeg", -bend), ("LowerLeg", bend), ("Foot", 0.7)):
            pose.rotations_xyzw[body.index(lifted + part)] = exp(np.array([angle, 0.0, 0.0]))
        frames.append(source.pose(pose).rotations_xyzw)
    motion = MotionSample.from_frames(
        useless, np.tile(body.offsets[0], (20, 1)), np.array(frames), 30.0
    )
    found = canonical_pose(useless, find_roles(useless, motion=motion), motion)
    assert found.from_motion
    standing = MotionSample.from_frames(
        useless, body.offsets[:1], source.pose(body.rest_pose()).rotations_xyzw[None], 30.0
    )
    for side in (stands, lifted):
        for part in ("Foot", "Toes"):
            joint = useless.index(side + part)
            np.testing.assert_allclose(
                found.turns[joint], standing.rotations[0, joint], atol=1e-6, err_msg=side + part
            )


def test_a_standing_ankle_is_as_high_as_the_character_s_own() -> None:
    body = actor()
    child = scaled(body, {"leftLowerLeg": 0.4, "rightLowerLeg": 0.4, "leftFoot": 0.7,
                          "rightFoot": 0.7})  # fmt: skip
    alignment = align(body, child)
    crouch = body.rest_pose().copy()
    for side in ("left", "right"):
        crouch.rotations_xyzw[body.index(side + "UpperLeg")] = exp(np.array([-0.9, 0.0, 0.0]))
        crouch.rotations_xyzw[body.index(side + "LowerLeg")] = exp(np.array([1.7, 0.0, 0.0]))
        crouch.rotations_xyzw[body.index(side + "Foot")] = exp(np.array([-0.8, 0.0, 0.0]))
    fk = ForwardKinematics(body)
    fk.update(crouch.root, crouch.rotations_xyzw)
    ankle = body.index("leftFoot")
    crouch.root[1] += alignment.source_body.ankle_height - fk.positions[ankle, 1]
    copied = Copied(alignment, crouch)
    assert copied.target.positions[ankle, 1] == pytest.approx(
        alignment.target_body.ankle_height, abs=1e-9
    )


def test_heels_stand_on_the_floor_below_the_ankles() -> None:
    body = actor()
    own = align(body, body).target_body
    rest = MotionSample.of_rest(body)
    for row, foot in enumerate(own.feet):
        heel = rest.positions[0, foot] + rest.rotations[0, foot] @ own.heel_points[row]
        assert heel[1] == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(heel[[0, 2]], rest.positions[0, foot, [0, 2]], atol=1e-12)


def test_a_floor_that_is_not_at_zero_is_found_in_the_motion() -> None:
    body = actor()
    roots = np.tile(body.offsets[0] + np.array([0.0, 0.75, 0.0]), (20, 1))
    motion = MotionSample.from_frames(body, roots, np.tile(body.rest_xyzw, (20, 1, 1)), 30.0)
    alignment = align(body, body, motion)
    assert alignment.source_body.floor == pytest.approx(0.75)
    pose = Pose(roots[0].copy(), body.rest_xyzw.copy())
    np.testing.assert_allclose(Copied(alignment, pose).root, body.offsets[0], atol=1e-12)


def leaning(body: Skeleton, tilt_rad: float) -> Pose:
    """Both feet on the floor, the hips tilted sideways, the lower leg's knee bent."""
    pose = body.rest_pose().copy()
    index, places = body.index, MotionSample.of_rest(body).positions[0]
    pose.rotations_xyzw[index("hips")] = exp(np.array([0.0, 0.0, tilt_rad]))
    upright = exp(np.array([0.0, 0.0, -tilt_rad]))
    width = places[index("leftUpperLeg"), 0] - places[index("rightUpperLeg"), 0]
    thigh, shin = (
        float(np.linalg.norm(body.offsets[index(name)])) for name in ("rightLowerLeg", "rightFoot")
    )
    # The law of cosines: the knee that shortens the leg by what its hip is lower.
    span = thigh + shin - width * np.sin(tilt_rad)
    knee = np.pi - np.arccos((thigh**2 + shin**2 - span**2) / (2.0 * thigh * shin))
    hip = np.arcsin(shin * np.sin(knee) / span)
    pose.rotations_xyzw[index("leftUpperLeg")] = upright
    pose.rotations_xyzw[index("rightUpperLeg")] = multiply(upright, exp(np.array([-hip, 0, 0])))
    pose.rotations_xyzw[index("rightLowerLeg")] = exp(np.array([knee, 0.0, 0.0]))
    return pose


@pytest.mark.parametrize("tilt_rad", [0.03, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("wider", [1.5, 4.0])
def test_both_feet_stand_under_hips_of_any_width(wider: float, tilt_rad: float) -> None:
    body = actor()
    factors = {"leftUpperLeg": wider, "rightUpperLeg": wider}
    factors |= {"leftLowerLeg": 1.2, "rightLowerLeg": 1.2, "leftFoot": 0.9, "rightFoot": 0.9}
    other = renamed(scaled(body, factors), {"leftToes": "Left_Toe_Base"})
    copied = Copied(align(body, other), leaning(body, tilt_rad))
    feet = [body.index("leftFoot"), body.index("rightFoot")]
    ours, theirs = (figure.positions[feet, 1] for figure in (copied.source, copied.target))
    assert ours[0] == pytest.approx(ours[1], abs=1e-9)
    assert theirs[0] == pytest.approx(theirs[1], abs=1e-9)
    angles = angle_deg(copied.limbs(copied.source), copied.limbs(copied.target))
    assert np.max(angles) < 1e-6


def test_levelled_hips_follow_a_tilt_without_a_jump() -> None:
    """From upright to hips on edge, as in a cartwheel: no step of the hips outruns the tilt's."""
    body = actor()
    wide = scaled(body, {"leftUpperLeg": 4.0, "rightUpperLeg": 4.0})
    wide = renamed(wide, {"leftToes": "Left_Toe_Base"})
    alignment = align(body, wide)
    assert alignment.hip_tilt == pytest.approx(0.25)
    tilts = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 400)
    before: FloatArray | None = None
    for tilt in tilts:
        pose = body.rest_pose().copy()
        pose.rotations_xyzw[body.index("hips")] = exp(np.array([0.0, 0.0, tilt]))
        hips = Copied(alignment, pose).target.rotations[wide.index("hips")]
        if before is not None:
            step = np.linalg.norm(hips - before) / np.sqrt(2.0)
            assert step < 2.5 * (tilts[1] - tilts[0])
        before = hips.copy()


def test_forearms_take_half_of_the_twist_of_their_hands_and_never_flip() -> None:
    body = actor()
    other = Reframed(body, np.random.default_rng(5)).skeleton
    alignment = align(body, other)
    transfer = Transfer(alignment)
    lower, hand = body.index("leftLowerArm"), body.index("leftHand")
    before: FloatArray | None = None
    for twist in np.radians(np.arange(0, 300, 5)):
        pose = body.rest_pose().copy()
        pose.rotations_xyzw[hand] = exp(np.array([twist, 0.0, 0.0]))
        copied = Copied(alignment, pose, transfer)
        forearm = from_matrix(copied.target.rotations[lower])
        if before is not None:
            step = 2.0 * np.arccos(min(1.0, abs(float(forearm @ before))))
            assert step < np.radians(2.6)
        before = forearm
    untouched = alignment.target.rest_xyzw
    assert copied.rotations_xyzw.shape == untouched.shape


def test_missing_fingers_toes_and_clavicles_do_not_matter() -> None:
    plain = Skeleton.build(
        joint for joint in actor().joints() if not joint.name.endswith(("Toes", "Hand"))
    )
    alignment = align(plain, actor())
    left_out = {"leftToes", "rightToes", "leftHand", "rightHand"}
    undriven = {actor().names[i] for i in np.flatnonzero(alignment.source_a < 0)}
    assert undriven == left_out


def test_what_is_missing_is_said() -> None:
    body = actor()
    legless = Skeleton.build(j for j in body.joints() if "Leg" not in j.name
                             and not j.name.endswith(("Foot", "Toes")))  # fmt: skip
    with pytest.raises(AlignmentError, match="the performer cannot be aligned: no joint found"):
        align(legless, body)


def test_a_bone_without_length_is_refused_by_name() -> None:
    flat = scaled(actor(), {"leftLowerLeg": 0.0})
    given_map = {name: name for name in flat.names}
    with pytest.raises(AlignmentError, match="left thigh has no length"):
        Alignment.build(actor(), flat, find_roles(actor()), find_roles(flat, humanoid=given_map))


def test_compiled_transfer_does_what_its_source_says() -> None:
    rng = np.random.default_rng(8)
    body = actor()
    wide = scaled(body, {"leftUpperLeg": 2.0, "rightUpperLeg": 2.0})
    other = renamed(Reframed(wide, rng).skeleton, {"leftToes": "Left_Toe_Base"})
    alignment = align(body, other)
    pose = random_pose(body, rng, 0.3)
    whole = Transfer(alignment)
    fk = ForwardKinematics(body)
    fk.update(pose.root, pose.rotations_xyzw)
    results = []
    for run in (kernels.transfer, kernels.transfer.py_func):  # type: ignore[attr-defined]  # numba's
        q, root = np.zeros((len(other), 4)), np.zeros(3)
        run(
            body.parents.copy(), pose.rotations_xyzw, fk.positions, whole._links,
            whole._constants,
            alignment.source_body.legs, whole._body, alignment.target_body.hips,
            np.full(len(other), np.nan), np.zeros((len(body), 4)), np.zeros((len(other), 4)),
            q, root,
        )  # fmt: skip
        results.append((q, root))
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-14)
    np.testing.assert_allclose(results[0][1], results[1][1], atol=1e-14)
