"""Servers with a fault planted in them: what a bench must catch."""

from __future__ import annotations

import sys

_SERVE = """
import sys
from understudy.cli import main
sys.exit(main(["serve", *sys.argv[1:]]))
"""

_SLOW_SOLVE = """
import time
from understudy.runtime.relay import Relay
from understudy.solvers.clik import Clik
step, run = Clik.step, Relay.run
def slow_step(self, targets, dt):
    time.sleep(0.002)
    return step(self, targets, dt)
def slow_run(self, dt):
    time.sleep(0.002)
    return run(self, dt)
Clik.step, Relay.run = slow_step, slow_run
"""

_DROPS = """
from understudy.transport.zmq_output import PoseOutput
send = PoseOutput.send
poses = 0
def leaky_send(self, topic, body):
    global poses
    poses += topic.endswith(b"/pose")
    if topic.endswith(b"/pose") and poses % 1000 == 0:
        return
    send(self, topic, body)
PoseOutput.send = leaky_send
"""

_VMC_DROPS = """
from understudy.transport.udp_output import UdpOutput
send = UdpOutput.send
poses = 0
def leaky_send(self, datagrams):
    global poses
    poses += 1
    send(self, datagrams[:-1] if poses % 100 == 0 else datagrams)
UdpOutput.send = leaky_send
"""

_LEAK = """
from understudy.transport.zmq_output import PoseOutput
send = PoseOutput.send
kept = []
def hoarding_send(self, topic, body):
    kept.append(bytes(100))
    send(self, topic, body)
PoseOutput.send = hoarding_send
"""


def _server(fault: str) -> tuple[str, ...]:
    return (sys.executable, "-c", fault + _SERVE)


SLOW_SOLVE = _server(_SLOW_SOLVE)
"""Sleeps for 2 ms in every solve."""

DROPS = _server(_DROPS)
"""Loses one pose in a thousand."""

VMC_DROPS = _server(_VMC_DROPS)
"""Loses the last datagram of one VMC pose in a hundred."""

LEAK = _server(_LEAK)
"""Keeps 100 bytes for every message it publishes."""
