"""What the facts mean, in plain words: pure functions from facts to findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from understudy.doctor.facts import (
    BodyFacts,
    BodyShape,
    CharacterFacts,
    InputFacts,
    PerformerFacts,
    Rhythm,
    ServerFacts,
)

Weight = Literal["wrong", "odd", "good"]

_LEG_M: Final = (0.4, 1.4)
_FLOOR_M: Final = 0.25
_STILL_DEG: Final = 1.0
_ARMS_DEG: Final = 35.0
_SLOW_HZ: Final = 20.0
_JITTER: Final = 0.5
_SIDE: Final = 0.2
# Counted, but no fault of the sender's.
_HARMLESS: Final = ("no-body", "no-skeleton", "accepted")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found out: `wrong` keeps the show from working, `odd` may, `good` does not."""

    weight: Weight
    text: str


def diagnose_input(facts: InputFacts) -> list[Finding]:
    """What is wrong with what comes in, the first cause first."""
    findings = list(_arrival(facts))
    if facts.body is not None:
        findings += _body(facts.body, facts.vmc)
    if facts.rhythm is not None:
        findings += _rhythm(facts.rhythm)
    return findings


def diagnose_server(facts: ServerFacts) -> list[Finding]:
    """What is wrong in a running server."""
    if facts.performers is None:
        return [
            _wrong(f"no server answers at {facts.where}: start one with `understudy serve SHOW`")
        ]
    findings: list[Finding] = []
    for performer in facts.performers:
        findings += _performer(performer)
    for character in facts.characters:
        findings += _character(character)
    if not facts.characters:
        findings.append(_wrong("the server drives no character: its show has no open session"))
    return findings


def _wrong(text: str) -> Finding:
    return Finding("wrong", text)


def _odd(text: str) -> Finding:
    return Finding("odd", text)


def _good(text: str) -> Finding:
    return Finding("good", text)


def _arrival(facts: InputFacts) -> Iterator[Finding]:
    if facts.taken:
        yield _wrong(
            f"{facts.where} is in use by another program (a running understudy server, or the"
            " receiver you want to test): stop it, or ask a running server with --server"
        )
        return
    if not facts.messages:
        yield _wrong(
            f"nothing came to {facts.where} in {facts.seconds:g} s: check that the sender is on,"
            " that it sends to this machine's address and this port, and the firewall"
        )
        for port in facts.elsewhere:
            yield _wrong(f"something comes to port {port} instead: the sender uses another port")
        for port in facts.taken_elsewhere:
            yield _odd(f"port {port} could not be listened at: another program uses it")
        return
    if len(facts.senders) > 1:
        yield _odd(
            f"{len(facts.senders)} senders at once ({', '.join(facts.senders)}):"
            " a performer needs an input of its own"
        )
    if facts.refused.get("not-osc", 0) >= facts.messages:
        yield _wrong(f"what comes to {facts.where} is not OSC: another protocol is sent there")
        return
    if refused := _refused(facts.refused):
        yield _odd(f"parts of what came were refused: {refused}")
    if facts.model_loaded is False:
        yield _wrong("the sender says that no model is loaded: load an avatar in it")
    if not facts.with_bones:
        what = "no bones" if facts.vmc else "no frames"
        hint = (
            "turn on sending of the body (in many programs only face and status are sent at first)"
            if facts.vmc
            else "the performer announces itself but sends no frames"
        )
        yield _wrong(f"{facts.messages} messages came, but {what}: {hint}")
    elif facts.tracking_lost:
        yield _odd(f"the sender says its tracking is bad, in {facts.tracking_lost} messages")


def _refused(counts: Mapping[str, int]) -> str:
    """Reasons and how often they were counted, without those that mean no harm."""
    return ", ".join(
        f"{why} {count}" for why, count in sorted(counts.items()) if count and why not in _HARMLESS
    )


def _body(body: BodyFacts, vmc: bool) -> Iterator[Finding]:
    if body.missing:
        yield _wrong(f"bones are missing that a body needs: {', '.join(body.missing)}")
    elif body.refused is not None:
        yield _wrong(f"the body cannot be used: {body.refused}")
    for problem in body.problems:
        yield _odd(problem)
    if body.shape is not None:
        yield from _shape(body.shape, vmc)


def _shape(shape: BodyShape, vmc: bool) -> Iterator[Finding]:
    if shape.leg_m < 1e-3:
        yield _wrong(
            "all bones have length zero: the sender leaves out bone positions; turn them on"
        )
        return
    yield from _size(shape)
    yield from _sides(shape)
    if shape.arms_off_t_deg is not None and shape.arms_off_t_deg > _ARMS_DEG:
        what = (
            "the T-pose is missing: at rest the arms are"
            f" {shape.arms_off_t_deg:.0f} degrees off straight sideways"
        )
        hint = "; have the sender send normalised bones, or calibrate" if vmc else "; calibrate"
        yield _odd(what + hint)
    if shape.moved_deg < _STILL_DEG:
        yield _wrong(
            "the pose never changes: the sender is paused, or the performer is not tracked"
        )


def _size(shape: BodyShape) -> Iterator[Finding]:
    low, high = _LEG_M
    if low <= shape.leg_m <= high:
        yield from _floor(shape)
        return
    legs = f"the legs are {shape.leg_m:.3g} m long"
    if low <= shape.leg_m / 100.0 <= high:
        yield _wrong(f"{legs}: lengths are 100 times too large, in centimetres; send metres")
    elif low <= shape.leg_m / 1000.0 <= high:
        yield _wrong(f"{legs}: lengths are 1000 times too large, in millimetres; send metres")
    elif low <= shape.leg_m * 100.0 <= high:
        yield _wrong(f"{legs}: lengths are 100 times too small; send metres")
    else:
        yield _odd(f"{legs}: unusual for a person; the character's size is not affected")


def _floor(shape: BodyShape) -> Iterator[Finding]:
    if abs(shape.lowest_foot_m) > _FLOOR_M:
        where = "above" if shape.lowest_foot_m > 0.0 else "below"
        yield _odd(
            f"the lowest foot is {abs(shape.lowest_foot_m):.2f} m {where} the floor (y = 0):"
            " set the floor in the sender, or calibrate"
        )


def _sides(shape: BodyShape) -> Iterator[Finding]:
    if shape.left_x is None or abs(shape.left_x) <= _SIDE:
        return
    left_is_right = shape.left_x < 0.0
    faces_away = shape.toes_z is not None and shape.toes_z < -_SIDE
    if left_is_right and faces_away:
        yield _odd(
            "the body is turned by half a turn: it faces away from +Z; turn it in the sender,"
            " or calibrate"
        )
    elif left_is_right or faces_away:
        yield _wrong(
            "left and right are swapped: the left leg is where the right one should be when the"
            " toes point forward; the sender mirrors an axis, or names sides the other way"
        )


def _rhythm(rhythm: Rhythm) -> Iterator[Finding]:
    told = f"{rhythm.rate_hz:.0f} frames a second, jitter {rhythm.jitter_ms:.1f} ms"
    if rhythm.rate_hz < _SLOW_HZ:
        yield _odd(f"{told}: slow; below {_SLOW_HZ:g} a second motion looks like a slide show")
    elif rhythm.jitter_ms > _JITTER * 1e3 / rhythm.rate_hz:
        yield _odd(
            f"{told}: uneven; use a cable instead of Wi-Fi, or give the session a rate_hz, which"
            " evens it out"
        )
    else:
        yield _good(told)
    if rhythm.longest_gap_ms > max(250.0, 5e3 / max(rhythm.rate_hz, 1.0)):
        yield _odd(f"nothing came for {rhythm.longest_gap_ms:.0f} ms in between")


def _performer(performer: PerformerFacts) -> Iterator[Finding]:
    name = f"performer {performer.name!r}"
    if performer.state == "unknown":
        yield _wrong(
            f"{name} was never heard: check the name it sends under, and the server's input"
        )
    elif performer.state == "silent":
        yield _wrong(f"{name} has fallen silent")
    else:
        yield _good(f"{name} is heard, {performer.rate_hz:.0f} frames a second")
    if refused := _refused(performer.refused):
        yield _odd(f"{name}: refused were {refused}")
    if performer.lost:
        yield _odd(f"{name}: {performer.lost} frames were lost on the way to the server")


def _character(character: CharacterFacts) -> Iterator[Finding]:
    name = f"character {character.name!r}"
    if character.problem is not None:
        yield _wrong(f"{name} cannot be driven by {character.performer!r}: {character.problem}")
        return
    if not character.received:
        if character.published:
            yield _wrong(
                f"{name}: the server publishes, but nothing came here: the way from its output to"
                " this machine is blocked"
            )
        else:
            yield _wrong(f"{name} has no pose: it waits for performer {character.performer!r}")
        return
    if character.stale == character.received:
        yield _wrong(f"{name} holds its pose: performer {character.performer!r} is silent")
    rate = character.received / character.seconds
    if character.missed:
        yield _odd(
            f"{name}: {character.missed} of {character.missed + character.received} poses did not"
            " arrive: this subscriber, or its network, is too slow; read in a thread of its own"
            " and keep only the newest pose"
        )
    else:
        yield _good(f"{name} arrives {rate:.0f} times a second, none missed")
