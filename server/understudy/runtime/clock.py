"""The output clock of a session whose rate is not its performer's."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from understudy.ingest import SourcePose
from understudy.runtime.mailbox import Mailbox
from understudy.runtime.performer import Performer
from understudy.runtime.session import Session
from understudy.runtime.timing import now_ns, wall_ns

_log = logging.getLogger(__name__)

# How many input periods the clock samples behind the newest frame: one, so that there is a frame
# on either side, and half a one for jitter.
_PERIODS_BEHIND: Final = 1.5
# The delay follows the performer's rate only when that has really changed: a delay that wanders
# would bend time.
_DELAY_BAND: Final = 0.25


class OutputClock:
    """A thread that samples the performer's poses at absolute deadlines and has them solved.

    A deadline that was missed by more than a period is skipped, not made up for.
    """

    def __init__(self, session: Session, performer: Performer) -> None:
        rate_hz = session.config.rate_hz
        assert rate_hz is not None
        self._session = session
        self._performer = performer
        self._period_ns = int(1e9 / rate_hz)
        self._delay = 0
        self._failed = False
        self._pose = SourcePose.allocate(0)
        self._mailbox: Mailbox | None = None
        self._source_id = 0
        self._generation = -1
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name=f"clock {session.character.name}", daemon=True
        )

    def start(self) -> None:
        """Begin to tick."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; returns when it has ended, within a period."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        deadline = now_ns() + self._period_ns
        while not self._stopping.is_set():
            wait = deadline - now_ns()
            if wait > 0:
                time.sleep(wait * 1e-9)
            try:
                self._tick(now_ns())
            except Exception:
                # A fault of ours must not end the show; it is told once.
                if not self._failed:
                    _log.exception("the clock of %r failed", self._session.character.name)
                self._failed = True
            deadline += self._period_ns
            if now_ns() > deadline + self._period_ns:
                deadline = now_ns() + self._period_ns

    def _tick(self, at_ns: int) -> None:
        mailbox = self._performer.mailbox
        if mailbox is None or not self._session.fits(mailbox.skeleton_id):
            return
        if self._session.hold_if_silent(at_ns, self._performer.heard_ns):
            return
        if mailbox is not self._mailbox:
            self._mailbox = mailbox
            self._pose = SourcePose.allocate(mailbox.joint_count, mailbox.marker_count)
        pose = self._pose
        server_ns = wall_ns(at_ns)
        sample = mailbox.sample(server_ns - self._delay_ns(), pose)
        if sample is None:
            return
        pose.jump = sample.generation != self._generation or mailbox.skeleton_id != self._source_id
        pose.dt = self._period_ns * 1e-9
        self._generation = sample.generation
        self._source_id = mailbox.skeleton_id
        self._session.advance(
            pose,
            mailbox.skeleton_id,
            at_ns,
            at_ns,
            now_ns(),
            max(0, server_ns - sample.shown_ns),
        )
        if self._session.watched:
            self._session.show_goals()

    def _delay_ns(self) -> int:
        """How far behind the performer's clock to sample."""
        fixed = self._session.config.delay_s
        if fixed is not None:
            return int(fixed * 1e9)
        wanted = int(_PERIODS_BEHIND * self._performer.stream.typical_dt * 1e9)
        if abs(wanted - self._delay) > _DELAY_BAND * self._delay:
            self._delay = wanted
        return self._delay
