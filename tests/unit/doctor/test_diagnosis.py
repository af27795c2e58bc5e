"""Each thing that can be wrong has its sentence, and nothing is said of what is right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from understudy.doctor.diagnosis import Finding, diagnose_input, diagnose_server
from understudy.doctor.facts import (
    BodyFacts,
    BodyShape,
    CharacterFacts,
    InputFacts,
    PerformerFacts,
    Rhythm,
    ServerFacts,
)

RHYTHM = Rhythm(rate_hz=60.0, jitter_ms=1.0, longest_gap_ms=20.0)
SHAPE = BodyShape(
    leg_m=0.85, left_x=1.0, toes_z=1.0, arms_off_t_deg=0.0, lowest_foot_m=0.05, moved_deg=20.0
)
BODY = BodyFacts(shape=SHAPE)
GOOD = InputFacts(
    "udp port 39539",
    5.0,
    vmc=True,
    messages=1200,
    senders=("10.0.0.7:50000",),
    with_bones=300,
    model_loaded=True,
    rhythm=RHYTHM,
    body=BODY,
)
PERFORMER = PerformerFacts("alice", "live", 60.0)
CHARACTER = CharacterFacts("hero", "alice", None, 300, 300, 0, 0, 5.0)


def complaints(findings: list[Finding]) -> list[str]:
    return [finding.text for finding in findings if finding.weight != "good"]


def test_a_good_sender_is_told_so() -> None:
    assert diagnose_input(GOOD) == [Finding("good", "60 frames a second, jitter 1.0 ms")]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (InputFacts("udp port 1", 5.0, vmc=True, taken=True), "in use by another program"),
        (InputFacts("udp port 1", 5.0, vmc=True), "nothing came to udp port 1 in 5 s"),
        (
            replace(GOOD, refused={"not-osc": 1200}, with_bones=0, body=None, rhythm=None),
            "is not OSC",
        ),
        (replace(GOOD, refused={"unknown-bone": 3}), "refused: unknown-bone 3"),
        (replace(GOOD, model_loaded=False), "no model is loaded"),
        (replace(GOOD, with_bones=0, body=None, rhythm=None), "1200 messages came, but no bones"),
        (
            replace(GOOD, vmc=False, with_bones=0, body=None, rhythm=None),
            "1200 messages came, but no frames",
        ),
        (replace(GOOD, tracking_lost=7), "tracking is bad, in 7 messages"),
        (replace(GOOD, senders=("a:1", "b:2")), "2 senders at once (a:1, b:2)"),
        (
            replace(GOOD, body=BodyFacts(missing=("spine", "head"))),
            "bones are missing that a body needs: spine, head",
        ),
        (replace(GOOD, body=replace(BODY, refused="it is a fox")), "cannot be used: it is a fox"),
        (replace(GOOD, body=replace(BODY, problems=("hips is perhaps X",))), "hips is perhaps X"),
        (
            replace(GOOD, body=BodyFacts(shape=replace(SHAPE, leg_m=0.0))),
            "all bones have length zero",
        ),
        (
            replace(GOOD, body=BodyFacts(shape=replace(SHAPE, leg_m=85.0))),
            "100 times too large, in centimetres",
        ),
        (
            replace(GOOD, body=BodyFacts(shape=replace(SHAPE, leg_m=850.0))),
            "1000 times too large, in millimetres",
        ),
        (replace(GOOD, body=BodyFacts(shape=replace(SHAPE, leg_m=0.0085))), "100 times too small"),
        (replace(GOOD, body=BodyFacts(shape=replace(SHAPE, leg_m=3.0))), "unusual for a person"),
        (
            replace(GOOD, body=BodyFacts(shape=replace(SHAPE, lowest_foot_m=0.9))),
            "0.90 m above the floor",
        ),
        (
            replace(GOOD, body=BodyFacts(shape=replace(SHAPE, lowest_foot_m=-0.4))),
            "0.40 m below the floor",
        ),
        (
            replace(GOOD, body=BodyFacts(shape=replace(SHAPE, left_x=-1.0))),
            "left and right are swapped",
        ),
        (
            replace(GOOD, body=BodyFacts(shape=replace(SHAPE, toes_z=-1.0))),
            "left and right are swapped",
        ),
        (
            replace(GOOD, body=BodyFacts(shape=replace(SHAPE, left_x=-1.0, toes_z=-1.0))),
            "turned by half a turn",
        ),
        (
            replace(GOOD, body=BodyFacts(shape=replace(SHAPE, arms_off_t_deg=80.0))),
            "the T-pose is missing",
        ),
        (
            replace(GOOD, body=BodyFacts(shape=replace(SHAPE, moved_deg=0.1))),
            "the pose never changes",
        ),
        (replace(GOOD, rhythm=replace(RHYTHM, rate_hz=8.0, jitter_ms=0.1)), "8 frames a second"),
        (replace(GOOD, rhythm=replace(RHYTHM, jitter_ms=12.0)), "uneven"),
        (replace(GOOD, rhythm=replace(RHYTHM, longest_gap_ms=900.0)), "nothing came for 900 ms"),
    ],
)
def test_what_is_wrong_with_an_input_is_said_in_one_sentence(facts: InputFacts, words: str) -> None:
    (text,) = complaints(diagnose_input(facts))
    assert words in text


def test_a_sender_at_another_port_is_found() -> None:
    facts = InputFacts(
        "udp port 39539", 5.0, vmc=True, elsewhere=(39540,), taken_elsewhere=(39541,)
    )
    texts = complaints(diagnose_input(facts))
    assert "nothing came" in texts[0]
    assert "port 39540 instead" in texts[1]
    assert "port 39541 could not be listened at" in texts[2]


def test_other_ports_do_not_matter_to_an_input_that_hears_its_sender() -> None:
    facts = replace(GOOD, elsewhere=(39540,), taken_elsewhere=(39541,))
    assert complaints(diagnose_input(facts)) == []


def test_what_cannot_be_told_is_not_complained_about() -> None:
    body = BodyFacts(shape=replace(SHAPE, left_x=None, toes_z=None, arms_off_t_deg=None))
    assert complaints(diagnose_input(replace(GOOD, body=body, model_loaded=None))) == []


def test_a_good_server_is_told_so() -> None:
    findings = diagnose_server(ServerFacts("tcp://x:1", (PERFORMER,), (CHARACTER,)))
    assert complaints(findings) == []
    assert findings[-1].text == "character 'hero' arrives 60 times a second, none missed"


@pytest.mark.parametrize(
    ("performer", "character", "words"),
    [
        (replace(PERFORMER, state="unknown"), CHARACTER, "was never heard"),
        (replace(PERFORMER, state="silent"), CHARACTER, "has fallen silent"),
        (replace(PERFORMER, refused={"late": 4, "no-body": 2}), CHARACTER, "refused were late 4"),
        (replace(PERFORMER, lost=9), CHARACTER, "9 frames were lost"),
        (PERFORMER, replace(CHARACTER, problem="no legs"), "cannot be driven by 'alice': no legs"),
        (PERFORMER, replace(CHARACTER, received=0), "nothing came here"),
        (PERFORMER, replace(CHARACTER, received=0, published=0), "waits for performer 'alice'"),
        (PERFORMER, replace(CHARACTER, stale=300), "holds its pose"),
        (PERFORMER, replace(CHARACTER, missed=20), "20 of 320 poses did not arrive"),
    ],
)
def test_what_is_wrong_with_a_server_is_said_in_one_sentence(
    performer: PerformerFacts, character: CharacterFacts, words: str
) -> None:
    (text,) = complaints(diagnose_server(ServerFacts("tcp://x:1", (performer,), (character,))))
    assert words in text


def test_a_server_that_is_not_there_or_empty_is_told() -> None:
    assert "no server answers at tcp://x:1" in diagnose_server(ServerFacts("tcp://x:1"))[0].text
    assert "drives no character" in diagnose_server(ServerFacts("tcp://x:1", ()))[0].text
