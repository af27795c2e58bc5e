"""Live calibration: count down, watch the performer stand still, align to that pose."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Final

import numpy as np

from understudy.align.calibration import Calibration, average_pose, check_calibration
from understudy.align.profile import profile_of, write_profile
from understudy.align.roles import RoleMap
from understudy.errors import UnderstudyError
from understudy.kinematics import Skeleton
from understudy.runtime.casting import cast_performer
from understudy.runtime.performer import Performer, PoseRecording
from understudy.runtime.show import Show
from understudy_protocol.messages import Scalar

_log = logging.getLogger(__name__)

COUNTDOWN_S: Final = 3.0
HOLD_S: Final = 1.0


class Calibrations:
    """The calibrations that go on, one per performer at most; to be used on the control loop.

    How it goes is told by events of the performer's characters: `calibrating` now and when the
    pose counts, then `calibrated`, or `calibration-failed` with the reason.
    """

    def __init__(self, show: Show) -> None:
        self._show = show
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(
        self, performer: Performer, countdown_s: float = COUNTDOWN_S, hold_s: float = HOLD_S
    ) -> None:
        """Begin; one that goes on already for this performer is given up."""
        running = self._tasks.get(performer.name)
        if running is not None:
            running.cancel()
        self._tasks[performer.name] = asyncio.get_running_loop().create_task(
            self._run(performer, countdown_s, hold_s)
        )

    def stop(self) -> None:
        """Give up whatever goes on."""
        for task in self._tasks.values():
            task.cancel()

    async def _run(self, performer: Performer, countdown_s: float, hold_s: float) -> None:
        try:
            if countdown_s > 0.0:
                text = f"T- or A-pose, please: {countdown_s:g} s to go"
                _tell(performer, "calibrating", text, countdown_s)
                await asyncio.sleep(countdown_s)
            _tell(performer, "calibrating", "hold still", hold_s)
            recording = performer.recording = PoseRecording(performer.stream.skeleton_id)
            await asyncio.sleep(hold_s)
            performer.recording = None
            await asyncio.to_thread(self._conclude, performer, recording)
        except UnderstudyError as error:
            _tell(performer, "calibration-failed", str(error)[:500])
        except Exception:
            _log.exception("the calibration of %r failed", performer.name)
            _tell(performer, "calibration-failed", "see the server's log")
        finally:
            performer.recording = None

    def _conclude(self, performer: Performer, recording: PoseRecording) -> None:
        """Average what was recorded, check it, and have everything aligned to it."""
        skeleton, skeleton_id = performer.stream.skeleton, performer.stream.skeleton_id
        count = 0 if skeleton is None else len(skeleton)
        calibration = average_pose(
            np.array(recording.roots).reshape(-1, 3),
            np.array(recording.rotations).reshape(-1, count, 4),
        )
        assert skeleton is not None  # else there was nothing to average
        for session in performer.sessions:
            _, roles = cast_performer(
                skeleton, humanoid=performer.humanoid, profile=session.profile
            )
            check_calibration(skeleton, roles, calibration)
            _store(session.config.profile, skeleton, roles, calibration)
        performer.hold(skeleton_id, calibration.pose)
        self._show.order_pipelines(performer, renew=True)
        _tell(performer, "calibrated", f"{int(calibration.used.sum())} frames of a still pose")


def _store(path: str | None, skeleton: Skeleton, roles: RoleMap, calibration: Calibration) -> None:
    """Keep the calibration in the session's profile, if the show file names one."""
    if path is not None:
        write_profile(Path(path), profile_of(skeleton, roles, calibration), roles)


def _tell(performer: Performer, kind: str, text: str, seconds: float | None = None) -> None:
    data: dict[str, Scalar] = {} if seconds is None else {"seconds": seconds}
    for session in performer.sessions:
        session.publish_event(kind, text, data)
