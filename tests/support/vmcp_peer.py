"""A VMC program nobody here wrote, as a process of its own: `receive PORT` or `send PORT`.

`receive PORT [FRAMES]` prints "ready", then each event as a line of JSON, and ends with the first
relative time, or with that of frame number FRAMES.
`send` reads [name, position, rotation] triples as JSON from standard input and sends them as bones.
"""

from __future__ import annotations

import json
import sys
import time as clock
from typing import Any

from vmcp.events import (
    BlendShapeApplyEvent,
    BlendShapeEvent,
    BoneTransformEvent,
    Event,
    RelativeTimeEvent,
    RootTransformEvent,
    StateEvent,
)
from vmcp.facades import on_receive
from vmcp.osc import OSC
from vmcp.osc.backend.osc4py3 import as_comthreads as backend
from vmcp.osc.typing import Message
from vmcp.protocol import blendshape, blendshape_apply, bone_transform, root_transform, state, time
from vmcp.typing import (
    BlendShapeKey,
    Bone,
    CalibrationMode,
    CalibrationState,
    CoordinateVector,
    ModelState,
    Quaternion,
    Timestamp,
    TrackingState,
)


class Key(BlendShapeKey):  # type: ignore[misc]  # vmcp has no types
    """A blendshape to send."""

    JOY = "Joy"


def described(event: Any) -> dict[str, Any]:  # vmcp has no types
    """An event as plain data."""
    if isinstance(event, RootTransformEvent | BoneTransformEvent):
        joint = event.joint.value if isinstance(event.joint, Bone) else event.joint
        p, q = event.position, event.rotation
        return {
            "kind": type(event).__name__,
            "joint": joint,
            "pose": [p.x, p.y, p.z, q.x, q.y, q.z, q.w],
        }
    if isinstance(event, BlendShapeEvent):
        return {"kind": "BlendShapeEvent", "key": event.key, "value": event.value}
    if isinstance(event, StateEvent):
        states = (event.calibration_state, event.calibration_mode, event.tracking_state)
        return {
            "kind": "StateEvent",
            "states": [event.model_state.value, *(s and s.value for s in states)],
        }
    if isinstance(event, RelativeTimeEvent):
        return {"kind": "RelativeTimeEvent", "seconds": event.delta}
    return {"kind": type(event).__name__}


def receive(port: int, frames: int = 1) -> None:
    """Print what comes in."""
    missing = frames

    def received(event: Event) -> None:
        nonlocal missing
        print(json.dumps(described(event)), flush=True)
        missing -= isinstance(event, RelativeTimeEvent)

    with OSC(backend).open() as osc:
        channel = osc.create_receiver("127.0.0.1", port, "in").open()
        for kind in (
            RootTransformEvent,
            BoneTransformEvent,
            BlendShapeEvent,
            BlendShapeApplyEvent,
            StateEvent,
            RelativeTimeEvent,
        ):
            on_receive(channel, kind, received)
        print("ready", flush=True)
        while missing > 0:
            osc.run()
            clock.sleep(0.001)


def send(port: int) -> None:
    """Send one frame in one bundle, the clock last."""
    bones = json.load(sys.stdin)
    with OSC(backend).open() as osc:
        osc.create_sender("127.0.0.1", port, "out").open().send(
            (
                Message(*root_transform(CoordinateVector(0, 0, 0), Quaternion(0, 0, 0, 1))),
                *(
                    Message(
                        *bone_transform(Bone(name), CoordinateVector(*place), Quaternion(*turn))
                    )
                    for name, place, turn in bones
                ),
                Message(*blendshape(Key.JOY, 0.5)),
                Message(*blendshape_apply()),
                Message(
                    *state(
                        ModelState.LOADED,
                        CalibrationState.CALIBRATED,
                        CalibrationMode.NORMAL,
                        TrackingState.OK,
                    )
                ),
                Message(*time(Timestamp(12.5))),
            )
        )
        osc.run()


if __name__ == "__main__":
    {"receive": receive, "send": send}[sys.argv[1]](*(int(word) for word in sys.argv[2:]))
