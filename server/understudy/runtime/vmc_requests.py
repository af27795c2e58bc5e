"""What the VMC receivers of a character may ask for, on the port VMC calls the Performer's."""

from __future__ import annotations

from collections import Counter

from understudy.runtime.calibrating import COUNTDOWN_S, Calibrations
from understudy.runtime.show import Show
from understudy.transport.udp_addresses import Resolved
from understudy_protocol.osc import decode_vmc
from understudy_protocol.osc.packet import write_message
from understudy_protocol.osc.vmc_events import (
    CalibrationExecute,
    CalibrationReady,
    InformationRequest,
    PassedOn,
    SetPeriod,
)


class VmcRequests:
    """Carries out the requests about one character; whatever else comes is left alone.

    `bound` is where they arrive, once that is known.
    """

    def __init__(self, show: Show, character: str, calibrations: Calibrations) -> None:
        self.refused: Counter[str] = Counter()
        self.bound: Resolved | None = None
        self._show = show
        self._calibrations = calibrations
        self._character = character

    def take(self, data: bytes) -> None:
        """Do what a datagram asks for."""
        datagram = decode_vmc(data)
        for error in datagram.refused:
            self.refused[error.reason] += 1
        session = self._show.find_session(self._character)
        if session is None:
            return
        for event in datagram.events:
            if isinstance(event, SetPeriod):
                session.set_period(event)
            elif isinstance(event, PassedOn):
                session.pass_on([event.raw])
            elif isinstance(event, InformationRequest) and self.bound is not None:
                session.pass_on([_listening(self.bound)])
            elif isinstance(event, CalibrationReady | CalibrationExecute):
                performer = self._show.performers[session.config.performer]
                now = isinstance(event, CalibrationExecute)
                self._calibrations.start(performer, 0.0 if now else COUNTDOWN_S)


def _listening(bound: Resolved) -> bytes:
    """What VMC tells rarely: that requests are listened to, and where.

    The other messages of that kind are about an avatar's file and windows, which do not leave here.
    """
    return write_message("/VMC/Ext/Rcv", "iis", 1, bound.port, str(bound.address[0]))
