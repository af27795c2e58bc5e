"""Characters from rig files in a running server."""

from __future__ import annotations

import numpy as np
import pytest

from support.live import serving
from support.shared import shared_path
from support.stage import on_stage
from understudy.characters import load_body
from understudy.errors import UnderstudyError

RIGS = ("Godette_vrm0.vrm", "mtoon_uv_vrm1.vrm", "Knight.glb")


@pytest.mark.parametrize("name", RIGS)
def test_a_rig_is_a_character_like_any_other(name: str) -> None:
    path = shared_path(f"rigs/{name}")
    body = load_body(path)
    session = {"performer": "alice", "character": "hero", "solver": "copy"}
    with (
        serving(session, characters={"hero": {"rig": str(path)}}) as server,
        on_stage(server, "hero") as stage,
    ):
        assert stage.skeleton.joints == body.skeleton.names
        np.testing.assert_allclose(stage.skeleton.rest_xyzw, body.skeleton.rest_xyzw, atol=1e-6)
        assert stage.subscriber.pose().rotations_xyzw.shape == (len(body.skeleton), 4)


def test_an_animal_is_refused_as_a_character() -> None:
    path = shared_path("rigs/Fox.glb")
    session = {"performer": "alice", "character": "hero"}
    with (
        pytest.raises(UnderstudyError, match=r"characters\.hero\.rig: .*four-legged"),
        serving(session, characters={"hero": {"rig": str(path)}}),
    ):
        pass
