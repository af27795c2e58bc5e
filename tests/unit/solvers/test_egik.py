"""Example-guided inverse kinematics: the slider, the past it remembers, and the whole-clip form."""

from __future__ import annotations

import copy
import tracemalloc
from typing import ClassVar

import numpy as np
import pytest

from support.bodies import angle_between, chain, mixed_body, moved, random_pose
from support.driving import FRAME_S, drive, smooth_motion
from support.solver_bench import goals_of
from understudy.kinematics import FloatArray, Pose, Skeleton, rotations
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import Egik, ParameterValue, SolverError
from understudy.solvers.egik import total_link_length
from understudy.solvers.whole_clip import WholeClipEgik

BODY = mixed_body()
HAND = Effector("hand", BODY.index("hand"), softness_m2=0.0)
FOOT = Effector("foot", BODY.index("foot"), orientation="exact", softness_m2=0.0)
BOTH = (HAND, FOOT)
LIFT = np.array([0.03, 0.08, -0.02])


def lifted(frame: int, targets: Targets) -> None:
    targets.positions[0] += LIFT * (1.0 + 0.3 * np.sin(0.2 * frame))


def clip_targets(
    skeleton: Skeleton, effectors: tuple[Effector, ...], motion: list[Pose]
) -> list[Targets]:
    """The targets of every frame of a motion, with the first effector's goals lifted."""
    frames = []
    for i, pose in enumerate(motion):
        targets = Targets.allocate(skeleton, effectors)
        goals_of(skeleton, effectors, targets, pose)
        lifted(i, targets)
        targets.jump = i == 0
        frames.append(targets)
    return frames


def deviations(motion: list[Pose], roots: FloatArray, turned: FloatArray) -> FloatArray:
    source = np.array([pose.rotations_xyzw for pose in motion])
    root = roots - np.array([pose.root for pose in motion])
    turns = rotations.log(rotations.multiply(rotations.conjugate(source), turned))
    return np.concatenate([root[:, None], turns], axis=1)


def test_without_alpha_the_performer_is_copied() -> None:
    motion = smooth_motion(BODY, 30, seed=1)
    track = drive(Egik(BODY, BOTH, {"alpha": 0.0}), motion, change=lifted)
    for i, pose in enumerate(motion):
        assert angle_between(track.rotations_xyzw[i], pose.rotations_xyzw) < 1e-12
        np.testing.assert_array_equal(track.roots[i], pose.root)


def test_with_all_of_alpha_the_goals_are_met() -> None:
    track = drive(Egik(BODY, BOTH, {"alpha": 1.0}), smooth_motion(BODY, 30, seed=2), change=lifted)
    assert np.max(track.residuals) < 1e-5


def test_goals_are_met_better_and_angles_worse_as_alpha_grows() -> None:
    motion = smooth_motion(BODY, 60, seed=3)
    missing, turned = [], []
    for alpha in (0.0, 0.2, 0.5, 0.8, 0.9, 0.97, 0.99, 0.999, 1.0):
        track = drive(Egik(BODY, BOTH, {"alpha": alpha}), motion, change=lifted)
        missing.append(track.residuals[:, 0].mean())
        turned.append(np.mean(deviations(motion, track.roots, track.rotations_xyzw)[:, 1:8] ** 2))
    assert np.all(np.diff(missing) < 0.0)
    assert np.all(np.diff(turned) > 0.0)


def test_near_one_the_error_goes_with_beta_by_alpha() -> None:
    motion = smooth_motion(BODY, 60, seed=4)

    def error(alpha: float) -> float:
        settings = {"alpha": alpha, "passes": 8}
        track = drive(Egik(BODY, (HAND,), settings), motion, change=lifted)
        return float(track.residuals.mean())

    ratio = error(0.999) / error(0.9999)
    assert ratio == pytest.approx((0.001 / 0.999) / (0.0001 / 0.9999), rel=0.03)


def test_a_frame_minimises_its_objective() -> None:
    """No small turn of a joint lowers the weighted sum that a frame is asked to minimise."""
    body = chain(5)
    end = Effector("end", 4, softness_m2=0.0)
    motion = smooth_motion(body, 6, seed=5)
    alpha, c, k1, k2, root_mobility = 0.8, 2.0, 0.7, 0.4, 0.05
    settings = {
        "alpha": alpha, "c": c, "velocity": k1, "acceleration": k2, "passes": 16,
        "root_mobility": root_mobility,
    }  # fmt: skip
    frames = clip_targets(body, (end,), motion)
    solver = Egik(body, (end,), settings)
    poses = []
    for targets in frames:
        solution = solver.step(targets, FRAME_S)
        poses.append(Pose(solution.root.copy(), solution.rotations_xyzw.copy()))
    past = deviations(motion[:5], *_arrays(poses[:5]))

    def objective(increment: FloatArray) -> float:
        pose = moved(body, poses[5], increment)
        targets = copy.deepcopy(frames[5])
        goals_of(body, (end,), targets, pose)
        missing = frames[5].positions - targets.positions
        d = deviations(motion[5:], *_arrays([pose]))[0]
        terms = (d, np.sqrt(k1) * (d - past[4]), np.sqrt(k2) * (d - 2.0 * past[4] + past[3]))
        weights = np.array([[1.0 / root_mobility], *[[1.0]] * len(body)])
        kept = sum(float(np.sum(weights * term**2)) for term in terms)
        return alpha * c * c * float(np.sum(missing**2)) + (1.0 - alpha) * kept

    here = objective(np.zeros(18))
    for k in range(18):
        for step in (-1e-3, 1e-3):
            increment = np.zeros(18)
            increment[k] = step
            assert objective(increment) > here - 1e-9


def _arrays(poses: list[Pose]) -> tuple[FloatArray, FloatArray]:
    return np.array([p.root for p in poses]), np.array([p.rotations_xyzw for p in poses])


@pytest.mark.parametrize("alpha", [0.9, 0.99])
def test_an_arm_is_stretched_and_let_go_smoothly(alpha: float) -> None:
    """A goal that leaves the reach and comes back: no joint turns abruptly at full stretch."""
    body = chain(4, 0.3)
    tip = Effector("tip", 3)
    bent = moved(body, body.rest_pose(), np.repeat([0.0, 0.4, 0.4, 0.4, 0.4], 3))
    solver = Egik(body, (tip,), {"alpha": alpha, "root_mobility": 0.0})

    def pull(frame: int, targets: Targets) -> None:
        way = 0.5 - 0.5 * np.cos(2.0 * np.pi * frame / 240.0)
        targets.positions[0] = (1.0 - way) * targets.positions[0] + way * np.array([0.3, 1.1, 0.2])

    track = drive(solver, [bent] * 241, change=pull, dt=1.0 / 120.0)
    turns = rotations.log(
        rotations.multiply(rotations.conjugate(track.rotations_xyzw[:-1]), track.rotations_xyzw[1:])
    )
    assert track.residuals.max() > 0.2
    assert np.abs(turns).max() < 0.05
    assert np.abs(np.diff(turns, axis=0)).max() < 0.012


def test_a_change_of_alpha_in_mid_motion_is_eased_in() -> None:
    motion = smooth_motion(BODY, 90, seed=6)
    solver = Egik(BODY, BOTH, {"alpha": 0.2})

    def change(frame: int, targets: Targets) -> None:
        lifted(frame, targets)
        if frame == 40:
            solver.set_parameters({"alpha": 0.999})

    calm = drive(Egik(BODY, BOTH, {"alpha": 0.2}), motion, change=lifted).largest_turn(1)
    track = drive(solver, motion, change=change)
    assert track.largest_turn(1) < calm + 0.03
    assert track.residuals[35:40, 0].mean() > 0.01
    assert track.residuals[80:, 0].mean() < 0.003


@pytest.mark.parametrize("alpha", [0.2, 0.9, 0.999])
def test_planted_points_do_not_slide_however_small_alpha_is(alpha: float) -> None:
    """Two points stand still while the performer's own move; a third, in the air, yields."""
    effectors = (HAND, FOOT, Effector("chest", BODY.index("chest"), softness_m2=0.0))
    motion = smooth_motion(BODY, 60, seed=11, spread_rad=0.3)
    start = Targets.allocate(BODY, effectors)
    goals_of(BODY, effectors, start, motion[0])

    def stand(frame: int, targets: Targets) -> None:
        targets.positions[:2] = start.positions[:2]
        targets.positions[2] += LIFT
        targets.planted[:2] = 1.0
        targets.base, targets.base_hold = 1, 1.0

    track = drive(Egik(BODY, effectors, {"alpha": alpha}), motion, change=stand)
    assert np.max(track.residuals[:, 1]) < 1e-12
    assert np.max(track.residuals[:, 0]) < 1e-5
    assert np.max(track.residuals[:, 2]) > 1e-3


def test_links_are_measured_to_their_tips() -> None:
    assert total_link_length(chain(4, 0.3)) == pytest.approx(1.2)


class TestWholeClip:
    MOTION = smooth_motion(BODY, 24, seed=7)
    SETTINGS: ClassVar[dict[str, ParameterValue]] = {"alpha": 0.9, "c": 2.0}

    def test_its_gradient_is_that_of_its_objective(self) -> None:
        solver = WholeClipEgik(BODY, BOTH, self.SETTINGS)
        frames = clip_targets(BODY, BOTH, self.MOTION[:5])
        rng = np.random.default_rng(8)
        d = np.zeros((5, 1 + len(BODY), 3))
        for joint in (0, 1, 2, 4, 7):
            d[:, joint] = rng.normal(scale=0.2, size=(5, 3))
        _, gradient = solver.evaluate(frames, FRAME_S, d)
        for at in [(0, 0, 1), (1, 1, 2), (2, 2, 0), (3, 4, 1), (4, 4, 2), (2, 7, 0)]:
            sides = []
            for step in (1e-5, -1e-5):
                nearby = d.copy()
                nearby[at] += step
                sides.append(solver.evaluate(frames, FRAME_S, nearby)[0])
            assert gradient[at] == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-5, abs=1e-5)

    def test_it_is_at_a_minimum_and_no_worse_than_the_causal_form(self) -> None:
        solver = WholeClipEgik(BODY, BOTH, self.SETTINGS)
        frames = clip_targets(BODY, BOTH, self.MOTION)
        found = solver.solve(frames, FRAME_S)
        causal = drive(Egik(BODY, BOTH, self.SETTINGS), self.MOTION, change=lifted)
        online, slope = solver.evaluate(
            frames, FRAME_S, deviations(self.MOTION, causal.roots, causal.rotations_xyzw)
        )
        d = deviations(self.MOTION, found.roots, found.rotations_xyzw)
        offline, rest = solver.evaluate(frames, FRAME_S, d)
        assert offline == pytest.approx(found.objective, rel=1e-9)
        assert offline < online
        assert np.abs(rest).max() < 1e-3 * np.abs(slope).max()

    def test_limits_hold(self) -> None:
        rng = np.random.default_rng(9)
        limits = JointLimits.around_motion(
            BODY, np.array([pose.rotations_xyzw for pose in self.MOTION]), 0.02
        )
        solver = WholeClipEgik(BODY, BOTH, {"alpha": 0.99, "c": 5.0}, limits=limits)
        frames = clip_targets(BODY, BOTH, self.MOTION)
        for targets in frames:
            targets.positions[0] += rng.normal(scale=0.1, size=3)
        found = solver.solve(frames, FRAME_S)
        judged = [j for j in range(len(BODY)) if j != FOOT.joint]
        assert limits.excess_rad(found.rotations_xyzw)[:, judged].max() < 1e-3

    def test_without_alpha_it_copies(self) -> None:
        solver = WholeClipEgik(BODY, BOTH, {"alpha": 0.0})
        found = solver.solve(clip_targets(BODY, BOTH, self.MOTION), FRAME_S)
        for i, pose in enumerate(self.MOTION):
            assert angle_between(found.rotations_xyzw[i], pose.rotations_xyzw) < 1e-9

    def test_the_base_stands_still(self) -> None:
        frames = clip_targets(BODY, BOTH, self.MOTION)
        for targets in frames:
            targets.base, targets.base_hold = 1, 1.0
        found = WholeClipEgik(BODY, BOTH, {"alpha": 0.5}).solve(frames, FRAME_S)
        assert found.residuals[:, 1].max() < 1e-12
        assert found.residuals[:, 0].max() > 1e-3

    def test_its_memory_grows_with_the_clip_and_not_with_its_square(self) -> None:
        body = chain(3)
        end = (Effector("end", 2),)
        motion = smooth_motion(body, 400, seed=12)

        def peak(frames: int) -> int:
            targets = clip_targets(body, end, motion[:frames])
            tracemalloc.start()
            WholeClipEgik(body, end, self.SETTINGS).solve(targets, FRAME_S)
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            return most

        assert peak(400) < 4.5 * peak(100)

    def test_no_frames_are_refused(self) -> None:
        with pytest.raises(SolverError, match="at least one frame"):
            WholeClipEgik(BODY, BOTH).solve([], FRAME_S)


def test_one_frame_alone_is_the_same_in_both_forms() -> None:
    pose = random_pose(BODY, np.random.default_rng(10), 0.4)
    frames = clip_targets(BODY, BOTH, [pose])
    settings = {"alpha": 0.9, "velocity": 0.0, "acceleration": 0.0, "passes": 16}
    causal = Egik(BODY, BOTH, settings).step(frames[0], FRAME_S)
    whole = WholeClipEgik(BODY, BOTH, settings).solve(frames, FRAME_S)
    assert angle_between(whole.rotations_xyzw[0], causal.rotations_xyzw) < 1e-4
