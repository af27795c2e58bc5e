"""One peer on the task, in its own environment: `python worker.py FOLDER PEER`.

Only numpy and the peer itself are at hand here. Orders come as lines of JSON on standard input
({"op": "hot", "frames": n}, {"op": "paced", "frames": n}, {"op": "errors"}), answers go out the
same way; the first line says which versions are measured.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

# What each task costs, as square roots of its weight: goals, root, posture.
GOAL_COST, ROOT_COST, POSTURE_COST = 1.0, 0.1, 0.01
SETTLE_STEPS = 50
WARM_UP_S = 0.25
ROOT_SITE = "rootSite"
Array = Any  # numpy arrays and the peers' own objects: none of their packages is typed


class _Frames:
    """The task at one rate."""

    def __init__(self, data: Array, key: str, rate_hz: float) -> None:
        self.angles = data[f"{key}_angles"]
        self.goals = data[f"{key}_goals"]
        self.roots = data[f"{key}_roots"]
        self.root_xyzw = data[f"{key}_root_xyzw"]
        self.dt = 1.0 / rate_hz
        self.count = len(self.goals)
        x, y, z, w = self.root_xyzw.T
        self.root_matrices = np.stack(
            [
                np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], -1),
                np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], -1),
                np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1),
            ],
            -2,
        )


class _Peer:
    """A solver of the task: `reset` to the first posture, `step` one frame, tell what it reached.

    Frames are given beforehand, so that what a peer must convert for itself is not timed.
    """

    packages: tuple[str, ...] = ()
    limits = True

    def __init__(self, folder: Path, frames: _Frames, sites: list[str], names: list[str]) -> None:
        self.frames = frames
        self.sites = sites
        self.names = names

    def reset(self) -> None:
        raise NotImplementedError

    def step(self, i: int) -> None:
        raise NotImplementedError

    def reached(self) -> Array:
        """Where the effectors are, (4, 3) m."""
        raise NotImplementedError


class _Mink(_Peer):
    """mink: a quadratic program per frame, solved by DAQP."""

    packages = ("mink", "mujoco", "daqp")

    def __init__(self, folder: Path, frames: _Frames, sites: list[str], names: list[str]) -> None:
        super().__init__(folder, frames, sites, names)
        mink, mujoco = importlib.import_module("mink"), importlib.import_module("mujoco")
        self._mink = mink
        model = mujoco.MjModel.from_xml_path(str(folder / "body.xml"))
        self._configuration = mink.Configuration(model)
        self._goals = [
            mink.FrameTask(s, "site", position_cost=GOAL_COST, orientation_cost=0.0) for s in sites
        ]
        self._root = mink.FrameTask(
            ROOT_SITE, "site", position_cost=ROOT_COST, orientation_cost=POSTURE_COST
        )
        self._posture = mink.PostureTask(model, cost=POSTURE_COST)
        self._tasks = [*self._goals, self._root, self._posture]
        self._limits = [mink.ConfigurationLimit(model)]
        self._postures = _mujoco_positions(frames)
        turn = mink.SO3.identity()
        self._goal_targets = [
            [mink.SE3.from_rotation_and_translation(turn, goal) for goal in goals]
            for goals in frames.goals
        ]
        self._root_targets = [
            mink.SE3.from_rotation_and_translation(mink.SO3(q[3:7].copy()), q[:3])
            for q in self._postures
        ]
        self._ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, site) for site in sites]

    def reset(self) -> None:
        self._configuration.update(self._postures[0].copy())

    def step(self, i: int) -> None:
        for task, target in zip(self._goals, self._goal_targets[i], strict=True):
            task.set_target(target)
        self._root.set_target(self._root_targets[i])
        self._posture.set_target(self._postures[i])
        velocity = self._mink.solve_ik(
            self._configuration, self._tasks, 1.0, "daqp", damping=1e-9, limits=self._limits
        )
        self._configuration.integrate_inplace(velocity, 1.0)

    def reached(self) -> Array:
        return self._configuration.data.site_xpos[self._ids].copy()


class _MuJoCo(_Peer):
    """MuJoCo's kinematics and a hand-written damped step in numpy, as a careful user would."""

    packages = ("mujoco",)
    limits = False

    def __init__(self, folder: Path, frames: _Frames, sites: list[str], names: list[str]) -> None:
        super().__init__(folder, frames, sites, names)
        mujoco = self._mujoco = importlib.import_module("mujoco")
        self._model = mujoco.MjModel.from_xml_path(str(folder / "body.xml"))
        self._data = mujoco.MjData(self._model)
        self._postures = _mujoco_positions(frames)
        self._ids = [
            mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_SITE, site)
            for site in (*sites, ROOT_SITE)
        ]
        self._places = np.concatenate([frames.goals, frames.roots[:, None]], axis=1)
        self._J = np.zeros((3 * len(self._ids), self._model.nv))
        self._difference = np.zeros(self._model.nv)
        self._damping = _damping(len(sites))

    def reset(self) -> None:
        self._data.qpos[:] = self._postures[0]

    def step(self, i: int) -> None:
        mujoco, model, data, J = self._mujoco, self._model, self._data, self._J
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        error = (self._places[i] - data.site_xpos[self._ids]).ravel()
        for k, site in enumerate(self._ids):
            mujoco.mj_jacSite(model, data, J[3 * k : 3 * k + 3], None, site)
        mujoco.mj_differentiatePos(model, self._difference, 1.0, data.qpos, self._postures[i])
        step = _damped_step(J, error, self._difference, self._damping)
        mujoco.mj_integratePos(model, data.qpos, step, 1.0)

    def reached(self) -> Array:
        self._mujoco.mj_kinematics(self._model, self._data)
        return self._data.site_xpos[self._ids[:-1]].copy()


class _Pinocchio(_Peer):
    """Pinocchio's Jacobians and the same hand-written step."""

    packages = ("pin",)
    limits = False

    def __init__(self, folder: Path, frames: _Frames, sites: list[str], names: list[str]) -> None:
        super().__init__(folder, frames, sites, names)
        pin = self._pin = importlib.import_module("pinocchio")
        self._model = _pinocchio_model(pin, folder)
        self._data = self._model.createData()
        self._postures = _pinocchio_positions(self._model, frames, names)
        self._frames = [self._model.getFrameId(site) for site in (*sites, ROOT_SITE)]
        self._places = np.concatenate([frames.goals, frames.roots[:, None]], axis=1)
        self._J = np.zeros((3 * len(self._frames), self._model.nv))
        self._error = np.zeros(3 * len(self._frames))
        self._damping = _damping(len(sites))
        self._q = self._postures[0].copy()

    def reset(self) -> None:
        self._q = self._postures[0].copy()

    def step(self, i: int) -> None:
        pin, model, data = self._pin, self._model, self._data
        pin.computeJointJacobians(model, data, self._q)
        pin.updateFramePlacements(model, data)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for k, frame in enumerate(self._frames):
            rows = slice(3 * k, 3 * k + 3)
            self._J[rows] = pin.getFrameJacobian(model, data, frame, world)[:3]
            self._error[rows] = self._places[i, k] - data.oMf[frame].translation
        difference = pin.difference(model, self._q, self._postures[i])
        step = _damped_step(self._J, self._error, difference, self._damping)
        self._q = pin.integrate(model, self._q, step)

    def reached(self) -> Array:
        self._pin.framesForwardKinematics(self._model, self._data, self._q)
        return np.stack([self._data.oMf[f].translation.copy() for f in self._frames[:-1]])


class _Pink(_Peer):
    """pink: the same on Pinocchio."""

    packages = ("pin-pink", "pin", "daqp")

    def __init__(self, folder: Path, frames: _Frames, sites: list[str], names: list[str]) -> None:
        super().__init__(folder, frames, sites, names)
        pin, pink = importlib.import_module("pinocchio"), importlib.import_module("pink")
        self._pink = pink
        model = _pinocchio_model(pin, folder)
        self._postures = _pinocchio_positions(model, frames, names)
        self._configuration = pink.Configuration(model, model.createData(), self._postures[0])
        self._goals = [
            pink.FrameTask(s, position_cost=GOAL_COST, orientation_cost=0.0) for s in sites
        ]
        self._root = pink.FrameTask(
            ROOT_SITE, position_cost=ROOT_COST, orientation_cost=POSTURE_COST
        )
        self._posture = pink.PostureTask(cost=POSTURE_COST)
        self._tasks = [*self._goals, self._root, self._posture]
        self._goal_targets = [
            [pin.SE3(np.eye(3), goal) for goal in goals] for goals in frames.goals
        ]
        self._root_targets = [
            pin.SE3(m, p) for m, p in zip(frames.root_matrices, frames.roots, strict=True)
        ]
        self._limits = [importlib.import_module("pink.limits").ConfigurationLimit(model)]
        self._frames = [model.getFrameId(site) for site in sites]

    def reset(self) -> None:
        self._configuration.update(self._postures[0].copy())

    def step(self, i: int) -> None:
        for task, target in zip(self._goals, self._goal_targets[i], strict=True):
            task.set_target(target)
        self._root.set_target(self._root_targets[i])
        self._posture.set_target(self._postures[i])
        velocity = self._pink.solve_ik(
            self._configuration,
            self._tasks,
            1.0,
            "daqp",
            damping=1e-9,
            limits=self._limits,
            safety_break=False,
        )
        self._configuration.integrate_inplace(velocity, 1.0)

    def reached(self) -> Array:
        placements = self._configuration.data.oMf
        return np.stack([placements[frame].translation.copy() for frame in self._frames])


class _Placo(_Peer):
    """placo: a quadratic program in C++."""

    packages = ("placo", "pin")

    def __init__(self, folder: Path, frames: _Frames, sites: list[str], names: list[str]) -> None:
        super().__init__(folder, frames, sites, names)
        placo = importlib.import_module("placo")
        self._robot = placo.RobotWrapper(str(folder / "body.urdf"), placo.Flags.ignore_collisions)
        solver = self._solver = placo.KinematicsSolver(self._robot)
        solver.dt = frames.dt
        solver.enable_joint_limits(True)
        solver.enable_velocity_limits(False)
        self._goals = [
            solver.add_position_task(site, goal)
            for site, goal in zip(sites, frames.goals[0], strict=True)
        ]
        for task, site in zip(self._goals, sites, strict=True):
            task.configure(site, "soft", GOAL_COST**2)
        self._place = solver.add_position_task(ROOT_SITE, frames.roots[0])
        self._place.configure("place", "soft", ROOT_COST**2)
        self._turn = solver.add_orientation_task(ROOT_SITE, frames.root_matrices[0])
        self._turn.configure("turn", "soft", POSTURE_COST**2)
        self._posture = solver.add_joints_task()
        self._posture.configure("posture", "soft", POSTURE_COST**2)
        solver.add_regularization_task(1e-9)
        joints = [f"{name}_{axis}_joint" for name in names[1:] for axis in "zyx"]
        self._columns = np.array([self._robot.get_joint_offset(joint) for joint in joints])
        self._postures = [
            dict(zip(joints, angles.ravel().tolist(), strict=True)) for angles in frames.angles
        ]

    def reset(self) -> None:
        q = self._robot.state.q.copy()
        q[:3], q[3:7] = self.frames.roots[0], self.frames.root_xyzw[0]
        q[self._columns] = self.frames.angles[0].ravel()
        self._robot.state.q = q
        self._robot.update_kinematics()

    def step(self, i: int) -> None:
        for task, goal in zip(self._goals, self.frames.goals[i], strict=True):
            task.target_world = goal
        self._place.target_world = self.frames.roots[i]
        self._turn.R_world_frame = self.frames.root_matrices[i]
        self._posture.set_joints(self._postures[i])
        self._solver.solve(True)
        self._robot.update_kinematics()

    def reached(self) -> Array:
        return np.stack([self._robot.get_T_world_frame(site)[:3, 3] for site in self.sites])


class _FilterPy(_Peer):
    """FilterPy's unscented Kalman filter about the performer's posture, kinematics by Pinocchio."""

    packages = ("filterpy", "pin")
    limits = False

    def __init__(self, folder: Path, frames: _Frames, sites: list[str], names: list[str]) -> None:
        super().__init__(folder, frames, sites, names)
        pin, kalman = (importlib.import_module(n) for n in ("pinocchio", "filterpy.kalman"))
        self._pin = pin
        self._model = _pinocchio_model(pin, folder)
        self._data = self._model.createData()
        self._postures = _pinocchio_positions(self._model, frames, names)
        self._frames = [self._model.getFrameId(site) for site in sites]
        self._posture = self._postures[0]
        states = self._model.nv
        self._filter = kalman.UnscentedKalmanFilter(
            dim_x=states,
            dim_z=3 * len(sites),
            dt=frames.dt,
            hx=self._measure,
            fx=lambda x, dt: x,
            points=kalman.JulierSigmaPoints(states, kappa=0.0),
        )
        self._filter.R = 1e-8 * np.eye(3 * len(sites))
        self._filter.Q = np.zeros((states, states))
        self._mobility = np.diag(np.r_[np.full(3, 0.003**2), np.full(states - 3, 0.01**2)])

    def reset(self) -> None:
        self._posture = self._postures[0]

    def step(self, i: int) -> None:
        self._posture = self._postures[i]
        self._filter.x = np.zeros(self._model.nv)
        self._filter.P = self._mobility.copy()
        self._filter.predict()
        self._filter.update(self.frames.goals[i].ravel())

    def reached(self) -> Array:
        return self._measure(self._filter.x).reshape(-1, 3)

    def _measure(self, x: Array) -> Array:
        q = self._pin.integrate(self._model, self._posture, x)
        self._pin.framesForwardKinematics(self._model, self._data, q)
        return np.concatenate([self._data.oMf[f].translation for f in self._frames])


_PEERS: dict[str, type[_Peer]] = {
    "mink": _Mink,
    "pink": _Pink,
    "placo": _Placo,
    "pinocchio": _Pinocchio,
    "mujoco": _MuJoCo,
    "filterpy": _FilterPy,
}


def _mujoco_positions(frames: _Frames) -> Array:
    turned = frames.root_xyzw[:, [3, 0, 1, 2]]
    return np.concatenate([frames.roots, turned, frames.angles.reshape(frames.count, -1)], axis=1)


def _pinocchio_model(pin: Array, folder: Path) -> Array:
    return pin.buildModelFromUrdf(str(folder / "body.urdf"), pin.JointModelFreeFlyer())


def _pinocchio_positions(model: Array, frames: _Frames, names: list[str]) -> Array:
    out = np.zeros((frames.count, model.nq))
    out[:, :3], out[:, 3:7] = frames.roots, frames.root_xyzw
    for j, name in enumerate(names[1:]):
        for k, axis in enumerate("zyx"):
            joint = model.joints[model.getJointId(f"{name}_{axis}_joint")]
            out[:, joint.idx_q] = frames.angles[:, j, k]
    return out


def _damping(goals: int) -> Array:
    weights = [GOAL_COST] * (3 * goals) + [ROOT_COST] * 3
    return np.diag((POSTURE_COST / np.array(weights)) ** 2)


def _damped_step(J: Array, error: Array, difference: Array, damping: Array) -> Array:
    """Minimise goals, root and posture errors together, in the space of the rows."""
    return difference + J.T @ np.linalg.solve(J @ J.T + damping, error - J @ difference)


def _time(peer: _Peer, indices: range, before: Callable[[int], None]) -> dict[str, float]:
    taken = np.zeros(len(indices))
    for row, i in enumerate(indices):
        before(row)
        begin = time.perf_counter_ns()
        peer.step(i)
        taken[row] = time.perf_counter_ns() - begin
    p50, p99 = np.percentile(taken, (50.0, 99.0)) * 1e-3
    return {"p50_us": float(p50), "p99_us": float(p99)}


def _pacer(dt: float) -> Callable[[int], None]:
    start = time.perf_counter()
    return lambda row: time.sleep(max(0.0, start + row * dt - time.perf_counter()))


def _settle(peer: _Peer) -> None:
    peer.reset()
    for _ in range(SETTLE_STEPS):
        peer.step(0)


def _errors(peer: _Peer) -> dict[str, float]:
    _settle(peer)
    first = int(np.ceil(WARM_UP_S / peer.frames.dt))
    errors = []
    for i in range(peer.frames.count):
        peer.step(i)
        if i >= first:
            errors.append(np.linalg.norm(peer.reached() - peer.frames.goals[i], axis=-1))
    return {"mean_cm": 100.0 * float(np.mean(errors)), "max_cm": 100.0 * float(np.max(errors))}


def main(folder: Path, name: str) -> int:
    """Obey orders until standard input is closed."""
    data = np.load(folder / "task.npz")
    sites = [f"{effector}Site" for effector in data["effectors"]]
    names = [str(joint) for joint in data["names"]]
    kind = _PEERS[name]
    fast, slow = (
        kind(folder, _Frames(data, key, rate), sites, names)
        for key, rate in zip(("fast", "slow"), data["rate_hz"].tolist(), strict=True)
    )
    versions = {package: version(package) for package in kind.packages}
    print(json.dumps({"ready": True, "versions": versions, "limits": kind.limits}), flush=True)
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        order = json.loads(line)
        if order["op"] == "errors":
            answer = _errors(slow)
        else:
            _settle(fast)
            frames = range(min(order["frames"], fast.frames.count))
            paced = order["op"] == "paced"
            answer = _time(fast, frames, _pacer(fast.frames.dt) if paced else lambda row: None)
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
