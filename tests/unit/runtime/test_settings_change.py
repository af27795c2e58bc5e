"""Settings that change while a performer walks: the character walks on, between old and new."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import pytest

from understudy.characters import Body
from understudy.characters.builtin import builtin_character
from understudy.characters.library import load_clip
from understudy.config import PerformerConfig, SessionConfig, Settings
from understudy.ingest import SourcePose
from understudy.kinematics import FloatArray
from understudy.runtime.aligning import AlignerFade
from understudy.runtime.character import Character
from understudy.runtime.pipeline import build_pipeline
from understudy.runtime.session import Session
from understudy.runtime.timing import now_ns
from understudy.transport import PoseOutput

RATE_HZ = 120.0
EASE_S = 0.3
EASING = round(EASE_S * RATE_HZ)  # frames
CLIP = load_clip("walk", RATE_HZ)
SOURCE_ID = 7
BEFORE = Settings()
CHANGES = [Settings(stride="performed"), Settings(lock_feet=False)]


class Walker:
    """One character that follows the walk, frame by frame."""

    def __init__(self, output: PoseOutput, settings: Settings, ease_s: float = EASE_S) -> None:
        character = Character("hero", Body(builtin_character("short-legs")))
        config = SessionConfig("alice", "hero", settings=settings)
        performer = PerformerConfig("alice", ease_s=ease_s)
        self.session = Session(config, performer, character, output)
        skeleton = CLIP.skeleton
        self.pipeline = build_pipeline(skeleton, SOURCE_ID, character.skeleton, "clik", {}, ease_s)
        self.session.adopt(self.pipeline)
        self._source = SourcePose.allocate(len(skeleton))
        self._frame = 0

    def go(self, frames: int) -> Way:
        """The next poses."""
        source = self._source
        roots, rotations, contacts = [], [], []
        for _ in range(frames):
            source.root[:] = CLIP.roots[self._frame]
            source.rotations_xyzw[:] = CLIP.rotations_xyzw[self._frame]
            source.dt = 1.0 / RATE_HZ
            source.jump = self._frame == 0
            self._frame += 1
            at = now_ns()
            assert self.session.advance(source, SOURCE_ID, at, at, at)
            pose = self.pipeline.pose
            roots.append(pose.root.copy())
            rotations.append(pose.rotations_xyzw.copy())
            contacts.append(self.pipeline.aligner.targets.contacts.copy())
        return Way(np.array(roots), np.array(rotations), np.array(contacts))


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """What a character did in f frames: roots (f, 3) m, rotations (f, n, 4), contacts (f, c)."""

    roots: FloatArray
    rotations_xyzw: FloatArray
    contacts: FloatArray

    def turned_from(self, other: Way) -> FloatArray:
        """The largest angle of any joint between this and another, in every frame (rad)."""
        dots = np.abs(np.einsum("fjc,fjc->fj", self.rotations_xyzw, other.rotations_xyzw))
        return np.asarray(2.0 * np.arccos(np.minimum(dots, 1.0)).max(axis=1), np.float64)


@pytest.fixture
def output() -> Iterator[PoseOutput]:
    with closing(PoseOutput("tcp://127.0.0.1:*")) as output:
        yield output


@pytest.mark.parametrize("settings", CHANGES, ids=["stride", "lock"])
def test_a_walking_character_walks_on_between_the_old_way_and_the_new(
    output: PoseOutput, settings: Settings
) -> None:
    walkers = [Walker(output, BEFORE), Walker(output, settings), Walker(output, BEFORE)]
    for walker in walkers:
        walker.go(200)
    walkers[2].session.change_settings(settings)
    old, new, changing = (walker.go(EASING) for walker in walkers)
    apart = new.roots - old.roots
    done = np.einsum("fr,fr->f", changing.roots - old.roots, apart) / np.sum(apart**2, axis=1)
    time = np.arange(1, EASING + 1) / EASING
    np.testing.assert_allclose(done, time**2 * (3.0 - 2.0 * time), atol=0.02)
    beside_m = np.linalg.norm(changing.roots - old.roots - done[:, None] * apart, axis=1)
    assert beside_m.max() < 0.005
    assert changing.turned_from(old).max() < new.turned_from(old).max()
    assert changing.turned_from(new)[-1] < 0.02


def test_contacts_are_seen_without_a_break(output: PoseOutput) -> None:
    settled, changing = Walker(output, BEFORE), Walker(output, BEFORE)
    for walker in (settled, changing):
        walker.go(200)
    changing.session.change_settings(Settings(stride="performed"))
    np.testing.assert_array_equal(changing.go(EASING).contacts, settled.go(EASING).contacts)


def test_changes_faster_than_they_are_eased_in_do_not_pile_up_and_do_not_jump(
    output: PoseOutput,
) -> None:
    walkers = [Walker(output, BEFORE), Walker(output, CHANGES[0]), Walker(output, BEFORE)]
    old, new, _ = (walker.go(200) for walker in walkers)
    apart_m = float(np.linalg.norm(new.roots[-1] - old.roots[-1]))
    changing = walkers[2]
    roots = []
    for k in range(12):
        changing.session.change_settings(CHANGES[0] if k % 2 == 0 else BEFORE)
        roots.append(changing.go(3).roots)
        aligner = changing.pipeline.aligner
        assert isinstance(aligner, AlignerFade)
        assert aligner.layers <= 4
    roots.append(changing.go(EASING).roots)
    steps_m = np.linalg.norm(np.diff(np.concatenate(roots), axis=0), axis=1)
    assert steps_m.max() < 0.1 * apart_m


def test_without_easing_a_change_counts_at_once(output: PoseOutput) -> None:
    changing, settled = Walker(output, BEFORE, 0.0), Walker(output, CHANGES[0], 0.0)
    for walker in (changing, settled):
        walker.go(100)
    changing.session.change_settings(CHANGES[0])
    np.testing.assert_allclose(changing.go(12).roots[-1], settled.go(12).roots[-1], atol=0.02)
