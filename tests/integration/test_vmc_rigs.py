"""Characters from rig files in a running server."""

from __future__ import annotations

import numpy as np
import pytest

from support.live import ControlClient, LivePerformer, Subscriber, serving
from support.shared import shared_path
from understudy.characters import load_body
from understudy.errors import UnderstudyError

RIGS = ("Godette_vrm0.vrm", "mtoon_uv_vrm1.vrm", "Knight.glb")


@pytest.mark.parametrize("name", RIGS)
def test_a_rig_is_a_character_like_any_other(name: str) -> None:
    path = shared_path(f"rigs/{name}")
    body = load_body(path)
    session = {"performer": "alice", "character": "hero", "solver": "copy"}
    with serving(session, characters={"hero": {"rig": str(path)}}) as server:
        subscriber = Subscriber(server.endpoints.output, "hero")
        announced = subscriber.skeleton()
        assert announced.joints == body.skeleton.names
        np.testing.assert_allclose(announced.rest_xyzw, body.skeleton.rest_xyzw, atol=1e-6)
        performer = LivePerformer("alice", server.endpoints.input)
        control = ControlClient(server.endpoints.control)
        try:
            for _ in range(10_000):  # frames are dropped while the bodies are aligned
                performer.send(0)
                control.ask("time", t1=0)  # gives the server time to get on
                if control.character("hero")["poses"]:
                    break
            assert subscriber.pose().rotations_xyzw.shape == (len(body.skeleton), 4)
        finally:
            control.close()
            performer.close()
            subscriber.close()


def test_an_animal_is_refused_as_a_character() -> None:
    path = shared_path("rigs/Fox.glb")
    session = {"performer": "alice", "character": "hero"}
    with (
        pytest.raises(UnderstudyError, match=r"characters\.hero\.rig: .*four-legged"),
        serving(session, characters={"hero": {"rig": str(path)}}),
    ):
        pass
