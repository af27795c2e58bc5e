from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.humanoids import actor, renamed
from understudy.align import find_roles
from understudy.align.calibration import average_pose
from understudy.align.profile import (
    ProfileError,
    format_profile,
    parse_profile,
    profile_of,
    read_profile,
    write_profile,
)


def test_a_map_survives_its_file(tmp_path: Path) -> None:
    odd = {"leftHand": 'l "hand" \\ 左\x7f\n', "spine": "Spine #1 = [x]"}
    body = renamed(actor(), odd)
    given = {role: odd.get(role, role) for role in actor().names}
    found = find_roles(body, humanoid=given)
    path = tmp_path / "profile.toml"
    write_profile(path, profile_of(body, found), found)
    again = find_roles(body, humanoid=read_profile(path).roles)
    assert again.roles == found.roles
    assert set(again.confidence.values()) == {1.0}


def test_a_calibration_survives_to_the_last_digit() -> None:
    body = actor()
    rng = np.random.default_rng(6)
    q = np.tile(body.rest_xyzw, (20, 1, 1)) + rng.normal(scale=0.01, size=(20, len(body), 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    calibration = average_pose(np.tile([0.1, 0.95, -0.3], (20, 1)), q)
    found = find_roles(body)
    pose = parse_profile(format_profile(profile_of(body, found, calibration), found)).pose(body)
    assert pose is not None
    np.testing.assert_array_equal(pose.root, calibration.pose.root)
    np.testing.assert_allclose(
        pose.rotations_xyzw, calibration.pose.rotations_xyzw, rtol=0.0, atol=1e-15
    )


def test_a_profile_without_calibration_has_no_pose() -> None:
    assert parse_profile("version = 1").pose(actor()) is None


def test_what_was_not_found_is_there_to_be_filled_in() -> None:
    body = actor()
    found = find_roles(body)
    profile = profile_of(body, found)
    del profile.roles["leftToes"]
    text = format_profile(profile, found)
    assert '# leftToes = ""  # not found' in text
    assert "leftToes" not in parse_profile(text).roles


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version = ", "not a TOML file"),
        ("", "version = None: allowed: 1"),
        ("version = 2", "version = 2: allowed: 1"),
        ("version = 1\nrole = 3", "role: unknown; allowed: version, roles, calibration"),
        ("version = 1\nroles = 3", "roles = 3: expected a table [roles]"),
        ('version = 1\n[roles]\nleftHnd = "x"', "[roles] leftHnd: no such role; allowed: hips"),
        ("version = 1\n[roles]\nhips = 3", "[roles] hips = 3: expected the name of a joint"),
        ("version = 1\n[calibration]\nroot = [0, 1]", "[calibration] root = [0, 1]: expected 3"),
        ("version = 1\n[calibration]\nroot = [0, nan, 0]", "expected 3 finite numbers"),
        (
            "version = 1\n[calibration]\nroot = [0, 1, 0]\n[calibration.rotations]\n"
            "hips = [0, 0, 0, 2]",
            "[calibration.rotations] 'hips' = [0, 0, 0, 2]: length 2, expected a unit quaternion",
        ),
    ],
)
def test_a_bad_profile_is_refused_with_key_value_and_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(ProfileError) as caught:
        parse_profile(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_calibration_of_another_body_is_refused_by_joint() -> None:
    text = 'version = 1\n[calibration]\nroot=[0,1,0]\n[calibration.rotations]\n"Paw"=[0,0,0,1]'
    with pytest.raises(ProfileError, match="'Paw': no such joint"):
        parse_profile(text).pose(actor())


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"none\.toml: cannot be read"):
        read_profile(tmp_path / "none.toml")
