"""What every solver must do, whatever its method."""

from __future__ import annotations

import gc
import math
import tracemalloc

import numpy as np
import pytest

from support.bodies import angle_between, chain, mixed_body
from support.driving import FRAME_S, drive, smooth_motion
from support.solver_bench import goals_of
from understudy.kinematics import FIXED, HINGE, FloatArray, Skeleton, rotations
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import SOLVERS, ParameterValue, Solver, SolverError, Status, create_solver
from understudy.solvers.registry import SOLVER_PARAMETERS

BODY = mixed_body()
EFFECTORS = (
    Effector("hand", BODY.index("hand")),
    Effector("foot", BODY.index("foot"), orientation="exact"),
    Effector("chest", BODY.index("chest"), orientation="rows"),
)
POINTS = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.1], [0.0, 0.2, 0.0]])


@pytest.fixture(params=SOLVERS, name="name")
def name_fixture(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def fresh(name: str) -> Solver:
    return create_solver(name, BODY, EFFECTORS)


def test_the_same_body_and_its_own_goals_give_the_motion_back(name: str) -> None:
    motion = smooth_motion(BODY, 60, seed=1)
    track = drive(fresh(name), motion, points=POINTS)
    for i, pose in enumerate(motion):
        assert angle_between(track.rotations_xyzw[i], pose.rotations_xyzw) < 1e-9
        np.testing.assert_allclose(track.roots[i], pose.root, atol=1e-9)
    assert np.max(track.residuals) < 1e-9
    assert set(track.statuses) == {Status.OK}


def test_an_answer_does_not_depend_on_later_frames(name: str) -> None:
    motion = smooth_motion(BODY, 40, seed=2)
    other = motion[:20] + smooth_motion(BODY, 20, seed=3, spread_rad=1.5)

    def displace(frame: int, targets: Targets) -> None:
        targets.positions[0] += [0.05, 0.02 * math.sin(0.3 * frame), 0.0]

    track = drive(fresh(name), motion, points=POINTS, change=displace)
    changed = drive(fresh(name), other, points=POINTS, change=displace)
    np.testing.assert_array_equal(track.rotations_xyzw[:20], changed.rotations_xyzw[:20])
    np.testing.assert_array_equal(track.roots[:20], changed.roots[:20])
    assert not np.array_equal(track.rotations_xyzw[25], changed.rotations_xyzw[25])


def test_the_targets_are_not_written_to(name: str) -> None:
    solver = fresh(name)
    targets = Targets.allocate(BODY, EFFECTORS, 2)
    targets.points[:] = POINTS
    for i, pose in enumerate(smooth_motion(BODY, 5, seed=4)):
        goals_of(BODY, EFFECTORS, targets, pose)
        targets.jump = i == 0
        before = [targets.head.copy(), targets.goals.copy(), targets.rotations_xyzw.copy()]
        solver.step(targets, FRAME_S)
        for array, kept in zip(
            (targets.head, targets.goals, targets.rotations_xyzw), before, strict=True
        ):
            np.testing.assert_array_equal(array, kept)


def test_memory_does_not_grow(name: str) -> None:
    solver = fresh(name)
    targets = Targets.allocate(BODY, EFFECTORS)
    motion = smooth_motion(BODY, 50, seed=5)

    def run(frames: int) -> None:
        for i in range(frames):
            pose = motion[i % len(motion)]
            targets.root[:] = pose.root
            targets.rotations_xyzw[:] = pose.rotations_xyzw
            targets.positions[:] = pose.root + 0.3
            targets.jump = i % 500 == 0
            solver.step(targets, FRAME_S)

    run(200)
    gc.collect()
    tracemalloc.start()
    try:
        run(100)
        before, _ = tracemalloc.get_traced_memory()
        run(2000)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1024


def test_the_answer_stays_in_the_same_buffers(name: str) -> None:
    solver = fresh(name)
    targets = Targets.allocate(BODY, EFFECTORS)
    first = solver.step(targets, FRAME_S)
    root, rotations_xyzw = first.root, first.rotations_xyzw
    targets.jump = False
    second = solver.step(targets, FRAME_S)
    assert second.root is root
    assert second.rotations_xyzw is rotations_xyzw


def spoil(targets: Targets, what: str, value: float) -> None:
    if what == "root":
        targets.root[1] = value
    elif what == "rotation":
        targets.rotations_xyzw[2, 0] = value
    elif what == "every rotation":
        targets.rotations_xyzw[:] = value
    elif what == "goal":
        targets.positions[0, 2] = value
    elif what == "orientation":
        targets.orientations_xyzw[1, 3] = value
    elif what == "point":
        targets.points[0, 0] = value
    else:
        targets.strengths[0] = value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "what",
    ["root", "rotation", "every rotation", "goal", "orientation", "point", "strength"],
)
def test_a_broken_frame_is_never_passed_on_and_is_over_with_the_next(
    name: str, what: str, value: float
) -> None:
    motion = smooth_motion(BODY, 45, seed=6)

    def break_one(frame: int, targets: Targets) -> None:
        if frame == 10:
            spoil(targets, what, value)

    with np.errstate(invalid="ignore"):
        track = drive(fresh(name), motion, points=POINTS, change=break_one)
    for array in (track.roots, track.rotations_xyzw, track.residuals):
        assert np.all(np.isfinite(array))
    if what in ("root", "rotation", "every rotation"):
        assert track.statuses[10] & Status.HELD
    if track.statuses[10] & Status.HELD:
        np.testing.assert_array_equal(track.rotations_xyzw[10], track.rotations_xyzw[9])
        np.testing.assert_array_equal(track.roots[10], track.roots[9])
    assert not any(status & Status.HELD for status in track.statuses[11:])
    assert angle_between(track.rotations_xyzw[-1], motion[-1].rotations_xyzw) < 1e-6
    np.testing.assert_allclose(track.roots[-1], motion[-1].root, atol=1e-6)


def test_a_stream_that_begins_broken_starts_with_its_first_good_frame(name: str) -> None:
    motion = smooth_motion(BODY, 20, seed=7)

    def broken_start(frame: int, targets: Targets) -> None:
        if frame < 3:
            targets.rotations_xyzw[:] = math.nan

    track = drive(fresh(name), motion, points=POINTS, change=broken_start)
    assert all(status & Status.HELD for status in track.statuses[:3])
    np.testing.assert_allclose(
        track.rotations_xyzw[:3], np.broadcast_to(BODY.rest_xyzw, (3, len(BODY), 4))
    )
    assert angle_between(track.rotations_xyzw[5], motion[5].rotations_xyzw) < 1e-6


def awkward(frame: int, targets: Targets) -> None:
    """Goals that conflict, move fast and come and go; a hinge sent far beyond its limit."""
    rng = np.random.default_rng(frame)
    targets.positions[:] += rng.normal(scale=0.3, size=targets.positions.shape)
    targets.strengths[frame % 3] = (0.0, 0.3, 1.0)[frame // 7 % 3]
    targets.rotations_xyzw[BODY.index("elbow")] = [0.5, 0.5, 0.5, 0.5]
    targets.jump = frame in (0, 17)


def test_reset_reproduces_the_same_answers_bit_for_bit(name: str) -> None:
    solver = fresh(name)
    motion = smooth_motion(BODY, 40, seed=8, spread_rad=1.5)
    first = drive(solver, motion, points=POINTS, change=awkward)
    solver.reset()
    second = drive(solver, motion, points=POINTS, change=awkward)
    np.testing.assert_array_equal(first.rotations_xyzw, second.rotations_xyzw)
    np.testing.assert_array_equal(first.roots, second.roots)
    np.testing.assert_array_equal(first.residuals, second.residuals)
    assert first.statuses == second.statuses


def test_reset_to_a_pose_is_the_same_whatever_went_before(name: str) -> None:
    motion = smooth_motion(BODY, 40, seed=9, spread_rad=1.0)
    used = fresh(name)
    drive(used, motion, points=POINTS, change=awkward)
    tracks = []
    for solver in (fresh(name), used):
        solver.reset(motion[3])
        tracks.append(drive(solver, motion[20:], points=POINTS))
    np.testing.assert_array_equal(tracks[0].rotations_xyzw, tracks[1].rotations_xyzw)
    np.testing.assert_array_equal(tracks[0].roots, tracks[1].roots)


def test_quaternions_stay_unit_hinges_stay_hinges_and_fixed_joints_fixed(name: str) -> None:
    motion = smooth_motion(BODY, 60, seed=10, spread_rad=2.0)
    track = drive(fresh(name), motion, points=POINTS, change=awkward)
    lengths = np.linalg.norm(track.rotations_xyzw, axis=-1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-9)
    assert off_axis(BODY, track.rotations_xyzw) < 1e-9


def off_axis(body: Skeleton, rotations_xyzw: FloatArray) -> float:
    """How far (rad) hinges and fixed joints are from what they can do."""
    local = rotations.log(rotations.multiply(rotations.conjugate(body.rest_xyzw), rotations_xyzw))
    along = np.sum(local * body.axes, axis=-1, keepdims=True) * body.axes
    hinges, fixed = body.kinds == HINGE, body.kinds == FIXED
    return float(max(np.max(np.abs((local - along)[:, hinges])), np.max(np.abs(local[:, fixed]))))


@pytest.mark.parametrize("effectors", [(), (Effector("root", 0),)], ids=["no goal", "one goal"])
def test_a_character_of_one_joint_follows(name: str, effectors: tuple[Effector, ...]) -> None:
    body = chain(1)
    motion = smooth_motion(body, 20, seed=11)
    track = drive(create_solver(name, body, effectors), motion)
    assert angle_between(track.rotations_xyzw[-1], motion[-1].rotations_xyzw) < 1e-9
    np.testing.assert_allclose(track.roots[-1], motion[-1].root, atol=1e-9)


@pytest.mark.parametrize("rate_hz", [5.0, 10.0, 120.0, 1000.0])
def test_any_rate_is_followed(name: str, rate_hz: float) -> None:
    motion = smooth_motion(BODY, 20, seed=12, rate_hz=rate_hz)
    track = drive(fresh(name), motion, points=POINTS, dt=1.0 / rate_hz)
    assert angle_between(track.rotations_xyzw[-1], motion[-1].rotations_xyzw) < 1e-6


def test_frames_that_claim_no_time_between_them_give_no_nonsense(name: str) -> None:
    motion = smooth_motion(BODY, 20, seed=12)
    track = drive(fresh(name), motion, points=POINTS, dt=0.0)
    assert np.all(np.isfinite(track.rotations_xyzw))
    np.testing.assert_allclose(np.linalg.norm(track.rotations_xyzw, axis=-1), 1.0, atol=1e-9)
    assert np.max(np.abs(track.roots)) < 5.0


def test_residuals_are_the_distances_from_the_goals(name: str) -> None:
    def far(frame: int, targets: Targets) -> None:
        targets.positions[0] = [0.0, 50.0, 0.0]
        targets.strengths[1] = 0.0

    motion = smooth_motion(BODY, 5, seed=13)
    track = drive(fresh(name), motion, points=POINTS, change=far)
    assert np.all(track.residuals[:, 0] > 40.0)
    assert np.all(track.residuals[:, 1] == 0.0)


def test_parameters_that_are_read_can_be_set_and_change_nothing_else(name: str) -> None:
    solver = fresh(name)
    values = solver.parameters()
    solver.set_parameters(values)
    assert solver.parameters() == values
    again = create_solver(name, BODY, EFFECTORS, values)
    assert again.parameters() == values


def test_each_parameter_can_be_changed_alone(name: str) -> None:
    assert {p.name for p in SOLVER_PARAMETERS[name]} == set(fresh(name).parameters())
    for parameter in SOLVER_PARAMETERS[name]:
        solver = fresh(name)
        before = solver.parameters()
        ends = [parameter.shown(number) for number in (parameter.high, parameter.low)]
        value = ends[0] if before[parameter.name] != ends[0] else ends[1]
        solver.set_parameters({parameter.name: value})
        assert solver.parameters() == {**before, parameter.name: value}


def test_a_wrong_value_is_refused_with_name_value_and_what_is_allowed(name: str) -> None:
    for parameter in SOLVER_PARAMETERS[name]:
        for wrong in (parameter.high + 1.0, parameter.low - 1.0, math.nan, "much", None, [1.0]):
            solver = fresh(name)
            before = solver.parameters()
            with pytest.raises(SolverError) as caught:
                solver.set_parameters({parameter.name: wrong})  # type: ignore[dict-item]  # wrong
            text = str(caught.value)
            assert name in text
            assert repr(parameter.name) in text
            assert repr(wrong) in text
            assert parameter.allowed in text
            assert solver.parameters() == before
        if parameter.whole and not parameter.choices:
            with pytest.raises(SolverError, match="whole"):
                fresh(name).set_parameters({parameter.name: parameter.low + 0.5})


def test_one_wrong_value_among_good_ones_changes_nothing(name: str) -> None:
    solver = fresh(name)
    before = solver.parameters()
    good: dict[str, ParameterValue] = dict(before)
    with pytest.raises(SolverError, match="'wobble'"):
        solver.set_parameters({**good, "wobble": 1.0})
    assert solver.parameters() == before
    with pytest.raises(SolverError, match="'wobble'"):
        create_solver(name, BODY, EFFECTORS, {"wobble": 1.0})


def test_an_unknown_solver_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SolverError, match="'magic'") as caught:
        create_solver("magic", BODY, EFFECTORS)
    for known in SOLVERS:
        assert known in str(caught.value)


def test_an_effector_on_a_joint_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(SolverError, match=r"'tail'.*99"):
        create_solver(name, BODY, [Effector("tail", 99)])


@pytest.mark.parametrize("spoiled", ["short", "strided", "float32"])
def test_an_array_the_kernels_were_not_compiled_for_is_refused_at_once(
    name: str, spoiled: str
) -> None:
    solver = fresh(name)
    targets = Targets.allocate(BODY, EFFECTORS)
    q = targets.rotations_xyzw
    if spoiled == "short":
        targets.rotations_xyzw = q[1:]
    elif spoiled == "strided":
        targets.rotations_xyzw = np.repeat(q, 2, axis=1)[:, ::2]
    else:
        targets.rotations_xyzw = q.astype(np.float32)
    with pytest.raises(TypeError):
        solver.step(targets, FRAME_S)


def test_targets_are_only_read(name: str) -> None:
    solver, other = fresh(name), fresh(name)
    targets = Targets.allocate(BODY, EFFECTORS)
    expected = other.step(targets.copy(), FRAME_S)
    for array in (targets.head, targets.rotations_xyzw, targets.goals, targets.contacts):
        array.setflags(write=False)
    before = targets.copy()
    solution = solver.step(targets, FRAME_S)
    np.testing.assert_array_equal(solution.rotations_xyzw, expected.rotations_xyzw)
    np.testing.assert_array_equal(targets.head, before.head)
    np.testing.assert_array_equal(targets.rotations_xyzw, before.rotations_xyzw)
    np.testing.assert_array_equal(targets.goals, before.goals)
