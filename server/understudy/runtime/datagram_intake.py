"""The receiving thread of one UDP port: datagrams of a performer become poses of characters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from understudy.ingest import FrameRejected
from understudy.ingest.datagrams import DatagramSource, Reading
from understudy.runtime.performer import Performer
from understudy.runtime.timing import counter_ns, now_ns, wall_ns
from understudy.transport import UdpInput
from understudy_protocol.messages import FrameMessage
from understudy_protocol.uplink import encode_frame

# How long the thread may sleep before its caller looks whether it should end.
_LONGEST_WAIT_S: Final = 0.1

Send = Callable[[bytes, bytes], None]


class DatagramIntake:
    """Receives, assembles, solves and publishes, all in the thread that calls `receive`.

    `on_skeleton` is told when the performer's skeleton is new; `send` publishes what a watched
    performer sends. What cannot be used is counted by the performer.
    """

    def __init__(
        self,
        performer: Performer,
        source: DatagramSource,
        udp: UdpInput,
        on_skeleton: Callable[[Performer], None],
        send: Send,
    ) -> None:
        source.refused = performer.refused
        self._performer = performer
        self._source = source
        self._udp = udp
        self._on_skeleton = on_skeleton
        self._send = send
        self._skeleton_id = 0

    def receive(self) -> None:
        """Wait for a datagram, for a frame to be overdue, or a tenth of a second."""
        source = self._source
        deadline_ns = source.deadline_ns
        wait_s = _LONGEST_WAIT_S
        if deadline_ns is not None:
            wait_s = min(wait_s, max(0.0, (deadline_ns - wall_ns(now_ns())) * 1e-9))
        datagram = self._udp.receive(wait_s)
        if datagram is not None:
            readings = source.feed(datagram.data, datagram.sender, wall_ns(datagram.time_ns))
        else:
            readings = source.poll(wall_ns(now_ns()))
        for reading in readings:
            self._pass_on()  # what came with a frame goes out with it
            self._drive(reading)
        self._pass_on()

    def close(self) -> None:
        """Give the port back, once nobody receives."""
        self._udp.close()

    def _pass_on(self) -> None:
        messages = self._source.take_passed_on()
        if messages:
            for session in self._performer.sessions:
                session.pass_on(messages)

    def _drive(self, reading: Reading) -> None:
        performer, stream, frame = self._performer, self._performer.stream, reading.frame
        decoded = now_ns()
        if stream.skeleton_id != self._skeleton_id:
            self._skeleton_id = stream.skeleton_id
            performer.renew_mailbox()
            self._on_skeleton(performer)
            if performer.watched:
                self._send(performer.shown_skeleton_topic, stream.announcement)
        try:
            pose = stream.take(frame, reading.arrival_ns)
        except FrameRejected:
            return  # counted by the stream
        performer.drive(pose, counter_ns(reading.arrival_ns), decoded)
        if performer.watched:
            self._send(
                performer.shown_frame_topic,
                encode_frame(
                    FrameMessage(
                        frame.run,
                        frame.seq,
                        frame.capture_ns,
                        frame.skeleton_id,
                        pose.root,
                        pose.rotations_xyzw,
                    )
                ),
            )
