"""What waits for a subscriber that does not read: enough for every character, and no more."""

from __future__ import annotations

import pytest
import zmq

from understudy.transport import PoseOutput
from understudy.transport.zmq_output import WAITING_PER_CHARACTER, WAITING_UNHEARD


@pytest.mark.parametrize("characters", [1, 3])
def test_more_poses_wait_for_one_who_subscribed_before_there_were_more_characters(
    characters: int,
) -> None:
    with zmq.Context[zmq.Socket[bytes]]() as context:
        output = PoseOutput(context, "inproc://poses")
        reader = context.socket(zmq.SUB)
        reader.setsockopt(zmq.RCVHWM, 1)
        reader.setsockopt(zmq.RCVTIMEO, 0)
        reader.setsockopt(zmq.SUBSCRIBE, b"")
        reader.connect("inproc://poses")
        while not output.admit_subscribers(lambda prefix: ()):
            pass
        output.make_room(characters)
        room = characters * WAITING_PER_CHARACTER + WAITING_UNHEARD
        for number in range(2 * room):
            output.send(b"character/pose", str(number).encode())
        arrived = []
        while reader.poll(0):
            arrived.append(int(reader.recv_multipart()[1]))
        reader.close(0)
        output.close()
    assert arrived == list(range(len(arrived)))  # the newest are dropped, none in between
    assert room <= len(arrived) <= room + 1
