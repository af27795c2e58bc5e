"""Who is which joint: what protocols, files and people say about a body, before it is aligned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from understudy.align import MotionSample, RoleMap, find_roles
from understudy.align.calibration import at_rest_in
from understudy.align.profile import Profile, read_profile
from understudy.characters import Body, load_body
from understudy.kinematics import Pose, Skeleton


def cast_performer(
    skeleton: Skeleton,
    *,
    humanoid: Mapping[str, str] | None = None,
    profile: Profile | None = None,
    held: Pose | None = None,
    motion: MotionSample | None = None,
) -> tuple[Skeleton, RoleMap]:
    """A performer's body as it is to be aligned: in its calibrated pose, with its roles.

    `humanoid` (role -> joint name) is what the protocol says, `profile` what a person does, who
    has the last word. `held` is the pose of a live calibration; without one that of the profile
    counts.
    """
    given = {role: joint for role, joint in (humanoid or {}).items() if joint in skeleton}
    if profile is not None:
        given.update(profile.roles)
        held = profile.pose(skeleton) if held is None else held
    roles = find_roles(skeleton, humanoid=given, motion=motion)
    return (skeleton if held is None else at_rest_in(skeleton, held)), roles


def cast_character(rig: str | Path, profile: str | Path | None = None) -> Body:
    """A character's body from its file, and what a profile says about it."""
    body = load_body(rig)
    if profile is None:
        return body
    return replace(body, humanoid={**body.humanoid, **read_profile(Path(profile)).roles})


def body_roles(body: Body) -> RoleMap:
    """Which joint of a character plays which part."""
    return find_roles(body.skeleton, humanoid=body.humanoid, weights=body.weights)
