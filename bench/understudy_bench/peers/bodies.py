"""The task's body as other programs read it: URDF and MJCF, ball joints as three hinges.

Their joint limits are those of hinges, so the limits of the task are given to them as ranges of
the angles about z, y and x (intrinsic, in this order), widened by the same margin as ours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from scipy.spatial.transform import Rotation

from understudy.kinematics import FloatArray
from understudy_bench.task import EFFECTORS, LIMIT_MARGIN_RAD, SolverTask

AXES: Final = {"z": "0 0 1", "y": "0 1 0", "x": "1 0 0"}
ROOT_SITE: Final = "rootSite"
_INERTIA: Final = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
)


def write_task(folder: Path, task: SolverTask, slow: SolverTask) -> None:
    """Write `body.urdf`, `body.xml` and the frames of the task at both rates, `task.npz`."""
    angles = hinge_angles(task)
    low = angles.min(axis=0) - LIMIT_MARGIN_RAD
    high = angles.max(axis=0) + LIMIT_MARGIN_RAD
    (folder / "body.urdf").write_text(_urdf(task, low, high), encoding="utf-8")
    (folder / "body.xml").write_text(_mjcf(task, low, high), encoding="utf-8")
    arrays: dict[str, FloatArray] = {}
    for key, each in (("fast", task), ("slow", slow)):
        arrays[f"{key}_angles"] = hinge_angles(each)
        arrays[f"{key}_goals"] = each.goals
        arrays[f"{key}_roots"] = each.roots
        arrays[f"{key}_root_xyzw"] = each.rotations_xyzw[:, 0]
    np.savez(
        folder / "task.npz",
        names=np.array(task.skeleton.names),
        effectors=np.array(EFFECTORS),
        rate_hz=np.array([task.rate_hz, slow.rate_hz]),
        **arrays,  # type: ignore[arg-type]  # the stub takes every keyword for `allow_pickle`
    )


def hinge_angles(task: SolverTask) -> FloatArray:
    """Angles (T, n - 1, 3) rad about z, y and x of all joints but the root, without jumps."""
    frames, n = task.frame_count, len(task.skeleton)
    turned = Rotation.from_quat(task.rotations_xyzw[:, 1:].reshape(-1, 4))
    angles = turned.as_euler("ZYX").reshape(frames, n - 1, 3)
    out = np.empty_like(angles)
    last = np.zeros((n - 1, 3))
    for t in range(frames):
        # Every rotation has two sets of such angles; the one that continues the motion is taken.
        first = _nearest_turn(angles[t], last)
        z, y, x = np.moveaxis(angles[t], -1, 0)
        second = _nearest_turn(np.stack([z + np.pi, np.pi - y, x + np.pi], -1), last)
        far = np.abs(first - last).sum(-1) > np.abs(second - last).sum(-1)
        out[t] = last = np.where(far[:, None], second, first)
    return out


def _nearest_turn(angles: FloatArray, last: FloatArray) -> FloatArray:
    return np.asarray(angles + 2.0 * np.pi * np.round((last - angles) / (2.0 * np.pi)))


def _urdf(task: SolverTask, low: FloatArray, high: FloatArray) -> str:
    skeleton = task.skeleton
    lines = ['<robot name="body">', f'<link name="{skeleton.names[0]}">{_INERTIA}</link>']
    for j in range(1, len(skeleton)):
        name = skeleton.names[j]
        before = skeleton.names[skeleton.parents[j]]
        place = _numbers(skeleton.offsets[j])
        for k, (axis, vector) in enumerate(AXES.items()):
            link = name if axis == "x" else f"{name}_{axis}"
            lines += [
                f'<link name="{link}">{_INERTIA}</link>',
                f'<joint name="{name}_{axis}_joint" type="revolute"><parent link="{before}"/>'
                f'<child link="{link}"/><origin xyz="{place}" rpy="0 0 0"/><axis xyz="{vector}"/>'
                f'<limit lower="{low[j - 1, k]:.9g}" upper="{high[j - 1, k]:.9g}"'
                f' effort="100" velocity="1000"/></joint>',
            ]
            before, place = link, "0 0 0"
    for effector, point in zip(task.effectors, task.points, strict=True):
        lines.append(_fixed_link(f"{effector.name}Site", skeleton.names[effector.joint], point))
    lines.append(_fixed_link(ROOT_SITE, skeleton.names[0], np.zeros(3)))
    return "\n".join([*lines, "</robot>"]) + "\n"


def _fixed_link(name: str, parent: str, point: FloatArray) -> str:
    return (
        f'<link name="{name}"/><joint name="{name}_joint" type="fixed"><parent link="{parent}"/>'
        f'<child link="{name}"/><origin xyz="{_numbers(point)}" rpy="0 0 0"/></joint>'
    )


def _mjcf(task: SolverTask, low: FloatArray, high: FloatArray) -> str:
    skeleton = task.skeleton
    sites = {e.joint: (e.name, p) for e, p in zip(task.effectors, task.points, strict=True)}

    def body(j: int) -> list[str]:
        place = _numbers(skeleton.offsets[j]) if j else "0 0 0"
        lines = [f'<body name="{skeleton.names[j]}" pos="{place}">']
        if j == 0:
            lines += ['<freejoint name="root"/>', f'<site name="{ROOT_SITE}"/>']
        else:
            lines += [
                f'<joint name="{skeleton.names[j]}_{axis}_joint" type="hinge" axis="{vector}"'
                f' limited="true" range="{low[j - 1, k]:.9g} {high[j - 1, k]:.9g}"/>'
                for k, (axis, vector) in enumerate(AXES.items())
            ]
        lines.append('<inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>')
        if j in sites:
            name, point = sites[j]
            lines.append(f'<site name="{name}Site" pos="{_numbers(point)}"/>')
        for child in skeleton.children(j):
            lines += body(child)
        return [*lines, "</body>"]

    head = '<mujoco model="body"><compiler angle="radian"/><worldbody>'
    return "\n".join([head, *body(0), "</worldbody></mujoco>"]) + "\n"


def _numbers(vector: FloatArray) -> str:
    return " ".join(f"{x:.9g}" for x in vector)
