"""Targets: named views of the two arrays that compiled code takes whole."""

from __future__ import annotations

import numpy as np

from support.bodies import mixed_body
from understudy.kinematics.tasks import NO_BASE, Effector, Targets


def test_targets_start_at_rest_with_every_effector_at_full_strength() -> None:
    body = mixed_body()
    targets = Targets.allocate(body, [Effector("hand", body.index("hand"))], 2)
    np.testing.assert_array_equal(targets.root, body.offsets[0])
    np.testing.assert_array_equal(targets.rotations_xyzw, body.rest_xyzw)
    np.testing.assert_array_equal(targets.orientations_xyzw, [[0, 0, 0, 1]])
    np.testing.assert_array_equal(targets.strengths, [1.0])
    np.testing.assert_array_equal(targets.contacts, [0.0, 0.0])
    assert targets.base == NO_BASE
    assert targets.base_hold == 0.0
    assert targets.jump


def test_names_write_through_to_the_arrays_the_kernels_read() -> None:
    targets = Targets(3, 2)
    targets.root[:] = [1, 2, 3]
    targets.base = 1
    targets.base_hold = 0.5
    targets.jump = False
    np.testing.assert_array_equal(targets.head, [1, 2, 3, 1, 0.5, 0])
    targets.points[1] = [4, 5, 6]
    targets.positions[1] = [7, 8, 9]
    targets.orientations_xyzw[1] = [0, 1, 0, 0]
    targets.strengths[1] = 0.25
    targets.planted[1] = 0.5
    np.testing.assert_array_equal(targets.goals[1], [4, 5, 6, 7, 8, 9, 0, 1, 0, 0, 0.25, 0.5])
    np.testing.assert_array_equal(targets.goals[0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0])
    assert targets.base == 1
    assert not targets.jump


def test_targets_of_one_body_do_not_write_to_its_skeleton() -> None:
    body = mixed_body()
    targets = Targets.allocate(body, [])
    targets.rotations_xyzw[:] = 0.0
    targets.root[:] = 5.0
    np.testing.assert_allclose(np.linalg.norm(body.rest_xyzw, axis=1), 1.0)
    assert body.offsets[0, 1] == 1.0
