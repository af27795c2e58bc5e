"""The rooms between a source pose and a character's pose, put together for one pair of bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from understudy.align import Aligner, RoleMap
from understudy.align.enhancer import SOLVER_PARAMETERS, Enhancer, check_same_body
from understudy.align.markers import AttachedPoint, MarkerError
from understudy.conditioning import CharacterPose, Smoother, TargetEase, TearBridge
from understudy.config import Settings
from understudy.kinematics import Pose, Skeleton
from understudy.kinematics.tasks import Targets
from understudy.runtime.aligning import AlignerFade, AlignsPoses
from understudy.runtime.goals import ClientGoals
from understudy.solvers import create_solver
from understudy.solvers.base import ParameterValue, Solver
from understudy_protocol.limits import MAX_EFFECTORS
from understudy_protocol.messages import Marker

_WARM_STEPS: Final = 3
_MOST_LAYERS: Final = 4


@dataclass(slots=True, eq=False)
class Pipeline:
    """One source skeleton's way to one character; replaced as a whole when the source changes."""

    source: Skeleton
    source_id: int
    aligner: AlignsPoses
    solver: Solver
    bridge: TearBridge
    smoother: Smoother
    ease: TargetEase
    goals: ClientGoals
    pose: CharacterPose
    enhancer: Enhancer | None = None  # the aligner, where it takes measured points
    settings: Settings = field(default_factory=Settings)
    fresh: bool = True  # no frame has gone through yet


def build_pipeline(
    source: Skeleton,
    source_id: int,
    character: Skeleton,
    solver_name: str,
    parameters: Mapping[str, ParameterValue],
    ease_s: float,
    *,
    source_roles: RoleMap | None = None,
    character_roles: RoleMap | None = None,
    floor_m: float | None = None,
    hand_contacts: bool = False,
) -> Pipeline:
    """Align, create the solver and run both a few times, so that the first frame finds them warm.

    Roles that are not given are found; `floor_m` is the floor under the character at rest;
    `hand_contacts` says whether hands at rest are held.
    UnderstudyError tells what does not fit.
    """
    aligner = Aligner(
        source,
        character,
        source_roles=source_roles,
        target_roles=character_roles,
        target_floor=floor_m,
        hand_contacts=hand_contacts,
    )
    return _assemble(source, source_id, character, aligner, solver_name, parameters, ease_s)


def attached_points(markers: Sequence[Marker]) -> tuple[AttachedPoint, ...]:
    """A performer's announced markers on its body."""
    return tuple(
        AttachedPoint(marker.name, marker.joint, np.asarray(marker.offset, np.float64))
        for marker in markers
    )


def build_enhancement(
    source: Skeleton,
    source_id: int,
    character: Skeleton,
    markers: Sequence[AttachedPoint],
    solver_name: str,
    parameters: Mapping[str, ParameterValue],
    ease_s: float,
) -> Pipeline:
    """The way from a performer to its own body, corrected by the measured `markers`.

    MarkerError if the character is another body or there are no markers.
    """
    check_same_body(source, character)
    if len(markers) > MAX_EFFECTORS:
        raise MarkerError(f"{len(markers)} markers; allowed: up to {MAX_EFFECTORS}")
    enhancer = Enhancer(character, markers)
    wanted = {**SOLVER_PARAMETERS.get(solver_name, {}), **parameters}
    pipeline = _assemble(source, source_id, character, enhancer, solver_name, wanted, ease_s)
    pipeline.enhancer = enhancer
    return pipeline


def _assemble(
    source: Skeleton,
    source_id: int,
    character: Skeleton,
    aligner: Aligner | Enhancer,
    solver_name: str,
    parameters: Mapping[str, ParameterValue],
    ease_s: float,
) -> Pipeline:
    solver = create_solver(solver_name, character, aligner.effectors, parameters)
    rest = source.rest_pose()
    for _ in range(_WARM_STEPS):
        solver.step(aligner.align(rest.root, rest.rotations_xyzw, 1.0 / 60.0, False), 1.0 / 60.0)
    pipeline = Pipeline(
        source,
        source_id,
        aligner,
        solver,
        TearBridge(source, aligner.loose_joints),
        Smoother(source, ease_s),
        TargetEase(character, aligner.effectors, ease_s),
        ClientGoals(aligner.effectors),
        CharacterPose(character, len(aligner.effectors), len(aligner.contact_names)),
    )
    reset_pipeline(pipeline)
    return pipeline


def another_solver(
    pipeline: Pipeline,
    character: Skeleton,
    solver_name: str,
    parameters: Mapping[str, ParameterValue],
) -> Solver:
    """A solver, warm, that can take the place of the pipeline's; SolverError tells what is wrong.

    Nothing that a frame uses is touched.
    """
    aligner = pipeline.aligner
    wanted = dict(parameters)
    if pipeline.enhancer is not None:
        wanted = {**SOLVER_PARAMETERS.get(solver_name, {}), **wanted}
    solver = create_solver(solver_name, character, aligner.effectors, wanted)
    targets = Targets.allocate(character, aligner.effectors, len(aligner.contact_names))
    for _ in range(_WARM_STEPS):
        solver.step(targets, 1.0 / 60.0)
    solver.reset()
    return solver


def change_settings(pipeline: Pipeline, settings: Settings) -> None:
    """Take other settings; a character that was shown already eases over to what they make of it.

    Settings of an enhanced body are always the same.
    """
    before, pipeline.settings = pipeline.settings, settings
    pipeline.smoother.set_strength(settings.smoothing)
    old = pipeline.aligner
    if (before.stride, before.lock_feet) == (settings.stride, settings.lock_feet) or not isinstance(
        old, Aligner | AlignerFade
    ):
        return
    latest = old.new if isinstance(old, AlignerFade) else old
    new = latest.with_settings(settings.stride, settings.lock_feet)
    if pipeline.fresh:
        pipeline.aligner = new
        return
    if isinstance(old, AlignerFade) and old.layers == _MOST_LAYERS:
        # Changes that come faster than they are eased in must not cost ever more: hold instead.
        pipeline.ease.start(old.targets)
        old = latest
    pipeline.aligner = AlignerFade(old, new, pipeline.ease.duration_s)


def reset_pipeline(pipeline: Pipeline, pose: Pose | None = None) -> None:
    """Forget the past and start from `pose`, the rest pose if there is none."""
    pipeline.bridge.reset()
    pipeline.smoother.reset()
    pipeline.aligner.reset()
    pipeline.solver.reset(pose)
    pipeline.fresh = True
