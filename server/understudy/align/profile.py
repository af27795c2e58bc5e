"""A mapping profile: who is which joint, and a calibration, in a TOML file people can edit."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from understudy.align.calibration import Calibration
from understudy.align.confidence import ACCEPT
from understudy.align.humanoid import ALL_ROLES, BODY_ROLES, FINGER_ROLES
from understudy.align.roles import RoleMap
from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray, Pose, Skeleton

VERSION: Final = 1
_TABLES: Final = ("version", "roles", "calibration")


class ProfileError(UnderstudyError):
    """A profile that cannot be used: the key, its value, what is allowed."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """`roles` (role -> joint name), and the pose held in a calibration, if there was one.

    `rotations_xyzw` (joint name -> (4,)) are full parent_from_joint rotations and `root` (3,) m is
    where the performer stood.
    """

    roles: dict[str, str]
    root: FloatArray | None = None
    rotations_xyzw: dict[str, FloatArray] = field(default_factory=dict)

    def pose(self, skeleton: Skeleton) -> Pose | None:
        """The calibrated pose of `skeleton`; joints the profile does not have are at rest."""
        if self.root is None:
            return None
        pose = skeleton.rest_pose()
        for name, rotation in self.rotations_xyzw.items():
            if name not in skeleton:
                raise ProfileError(
                    f"[calibration.rotations] {name!r}: no such joint; "
                    f"the skeleton has {', '.join(skeleton.names)}"
                )
            pose.rotations_xyzw[skeleton.index(name)] = rotation
        return Pose(self.root.copy(), pose.rotations_xyzw)


def profile_of(
    skeleton: Skeleton, body: RoleMap, calibration: Calibration | None = None
) -> Profile:
    """The profile of a body that was found, and of a calibration."""
    roles = {role: skeleton.names[body.roles[role]] for role in ALL_ROLES if role in body.roles}
    if calibration is None:
        return Profile(roles)
    rotations = dict(zip(skeleton.names, calibration.pose.rotations_xyzw, strict=True))
    return Profile(roles, calibration.pose.root, rotations)


def format_profile(profile: Profile, body: RoleMap | None = None) -> str:
    """A profile as TOML; `body` adds as comments how sure each role is, and the problems."""
    lines = ["# Which joint plays which part; edit the names and give this file to understudy."]
    if body is not None:
        lines += [f"# {problem}" for problem in body.problems]
    lines += [f"version = {VERSION}", "", "[roles]"]
    for role in BODY_ROLES + FINGER_ROLES:
        if role in profile.roles:
            sure = None if body is None else body.confidence.get(role)
            note = "" if sure is None or sure >= ACCEPT else f"  # {sure:.0%} sure"
            lines.append(f"{role} = {_quoted(profile.roles[role])}{note}")
        elif role in BODY_ROLES:
            lines.append(f'# {role} = ""  # not found')
    if profile.root is not None:
        lines += ["", "[calibration]", f"root = {_numbers(profile.root)}"]
        lines += ["", "[calibration.rotations]  # x, y, z, w, each joint in its parent's frame"]
        lines += [
            f"{_quoted(name)} = {_numbers(rotation)}"
            for name, rotation in profile.rotations_xyzw.items()
        ]
    return "\n".join(lines) + "\n"


def parse_profile(text: str) -> Profile:
    """A profile from TOML; ProfileError names the key, the value and what is allowed."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"not a TOML file: {error}") from None
    _known(document, _TABLES, "")
    version = document.get("version")
    if version != VERSION:
        raise ProfileError(f"version = {version!r}: allowed: {VERSION}")
    roles = _table(document, "roles", "")
    for role, name in roles.items():
        if role not in ALL_ROLES:
            raise ProfileError(f"[roles] {role}: no such role; allowed: {', '.join(ALL_ROLES)}")
        if not isinstance(name, str) or not name:
            raise ProfileError(f"[roles] {role} = {name!r}: expected the name of a joint in quotes")
    if "calibration" not in document:
        return Profile(dict(roles))
    calibration = _table(document, "calibration", "")
    _known(calibration, ("root", "rotations"), "[calibration] ")
    root = _vector(calibration.get("root"), 3, "[calibration] root")
    rotations = {
        name: _quaternion(value, f"[calibration.rotations] {name!r}")
        for name, value in _table(calibration, "rotations", "calibration.").items()
    }
    return Profile(dict(roles), root, rotations)


def read_profile(path: Path) -> Profile:
    """A profile from a file."""
    try:
        return parse_profile(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path}: cannot be read: {error}") from None
    except ProfileError as error:
        raise ProfileError(f"{path}: {error}") from None


def write_profile(path: Path, profile: Profile, body: RoleMap | None = None) -> None:
    """Write a profile to a file."""
    try:
        path.write_text(format_profile(profile, body), encoding="utf-8")
    except OSError as error:
        raise ProfileError(f"{path}: cannot be written: {error}") from None


def _quoted(name: str) -> str:
    """A TOML basic string; JSON's escapes are a subset of TOML's."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _numbers(values: FloatArray) -> str:
    return "[" + ", ".join(repr(float(value)) for value in values) + "]"


def _known(table: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in allowed:
            raise ProfileError(f"{where}{key}: unknown; allowed: {', '.join(allowed)}")


# What tomllib returns has any type; each value is checked where it is read.
def _table(document: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise ProfileError(f"{where}{key} = {value!r}: expected a table [{where}{key}]")
    return value


def _vector(value: object, size: int, where: str) -> FloatArray:
    if (
        not isinstance(value, list)
        or len(value) != size
        or not all(isinstance(number, int | float) and math.isfinite(number) for number in value)
    ):
        raise ProfileError(f"{where} = {value!r}: expected {size} finite numbers")
    return np.array(value, np.float64)


def _quaternion(value: object, where: str) -> FloatArray:
    rotation = _vector(value, 4, where)
    length = float(np.linalg.norm(rotation))
    if abs(length - 1.0) > 1e-3:
        raise ProfileError(f"{where} = {value!r}: length {length:g}, expected a unit quaternion")
    return np.asarray(rotation / length)
