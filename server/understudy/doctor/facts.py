"""What listening found out, without a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How frames came: their rate, and how unevenly (ms: 95 of 100 steps are nearer the usual)."""

    rate_hz: float
    jitter_ms: float
    longest_gap_ms: float


@dataclass(frozen=True, slots=True)
class BodyShape:
    """Measures of a performer's body and of how it moved, in our axes, metres and degrees.

    `left_x` and `toes_z`: where the left leg and the toes are from the middle and the ankle in the
    rest pose, +1 to -1 along that axis, None where they cannot be told. `arms_off_t_deg`: how far
    the upper arms point from straight sideways at rest. `lowest_foot_m`: the lowest that a foot
    came. `moved_deg`: the farthest any joint turned.
    """

    leg_m: float
    left_x: float | None
    toes_z: float | None
    arms_off_t_deg: float | None
    lowest_foot_m: float
    moved_deg: float


@dataclass(frozen=True, slots=True)
class BodyFacts:
    """A performer's body: what it lacks, or else its shape.

    `missing` roles, `problems` in plain words, and why the body is `refused`, if it is.
    """

    missing: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    refused: str | None = None
    shape: BodyShape | None = None


@dataclass(frozen=True, slots=True)
class InputFacts:
    """What came in at one input in `seconds`.

    `where` is the input as a person writes it; `taken`: somebody else listens there. `messages` are
    datagrams or ZeroMQ messages, `senders` who sent them, `refused` reasons and how often,
    `elsewhere` usual VMC ports at which something came instead, `taken_elsewhere` those that others
    listen at. `with_bones` counts messages that had a part of a pose.
    """

    where: str
    seconds: float
    vmc: bool
    taken: bool = False
    messages: int = 0
    senders: tuple[str, ...] = ()
    elsewhere: tuple[int, ...] = ()
    taken_elsewhere: tuple[int, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    with_bones: int = 0
    model_loaded: bool | None = None
    tracking_lost: int = 0
    rhythm: Rhythm | None = None
    body: BodyFacts | None = None


@dataclass(frozen=True, slots=True)
class PerformerFacts:
    """A performer as a running server knows it."""

    name: str
    state: str
    rate_hz: float
    refused: Mapping[str, int] = field(default_factory=dict)
    lost: int = 0


@dataclass(frozen=True, slots=True)
class CharacterFacts:
    """A character of a running server, and its poses as they came here in `seconds`."""

    name: str
    performer: str
    problem: str | None
    published: int
    received: int
    missed: int
    stale: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """A running server; None where it does not answer."""

    where: str
    performers: tuple[PerformerFacts, ...] | None = None
    characters: tuple[CharacterFacts, ...] = ()
