"""What is going on, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from understudy.monitor.colours import BAD, GOOD, IDLE, WARN
from understudy.monitor.feed import BodyView
from understudy.monitor.link import ServerView
from understudy_protocol import PoseMessage, status

# A body not heard for this long is silent.
SILENT_S: Final = 1.0

_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six")


class Situation(NamedTuple):
    """A headline, a sentence, the colour of its edge, and what to type if something is missing."""

    headline: str
    text: str
    colour: str
    commands: tuple[str, ...] = ()


def situation(
    view: ServerView, bodies: Sequence[BodyView], control: str, now_s: float
) -> Situation:
    """What to tell at the top of the page."""
    if not view.connected:
        return Situation(
            "Waiting for the server",
            f"No server answers at {control}. The monitor goes on by itself as soon as one does.",
            IDLE,
            ("understudy serve SHOW.toml", "understudy demo --monitor"),
        )
    refused = [
        (str(s["character"]), str(problem))
        for s in view.sessions
        if (problem := view.character_stats(str(s["character"])).get("problem"))
    ]
    if refused:
        character, problem = refused[0]
        return Situation(f"{character} cannot be driven", problem, BAD)
    if any(body.key.of_performer for body in bodies):
        return _stream_situation(view, bodies, now_s)
    wanted = sorted({str(s["performer"]) for s in view.sessions})
    if not wanted:
        return Situation("No session runs", "The server is up, but it drives no character.", IDLE)
    return Situation(
        "Waiting for a performer",
        f"The server is ready. {_sentence(wanted)} not sent anything yet.",
        IDLE,
        tuple(play_command(view, name) for name in wanted),
    )


def _stream_situation(view: ServerView, bodies: Sequence[BodyView], now_s: float) -> Situation:
    performers = [body for body in bodies if body.key.of_performer]
    characters = [body for body in bodies if not body.key.of_performer]
    silent = [b.key.name for b in performers if now_s - b.heard_s > SILENT_S]
    if silent:
        return Situation(
            f"{_names(silent)} {'is' if len(silent) == 1 else 'are'} silent",
            "Their characters hold the last pose and ease back when frames come again.",
            WARN,
            tuple(play_command(view, name) for name in silent),
        )
    troubled = [b for b in characters if isinstance(b.pose, PoseMessage) and b.pose.status]
    headline = (
        f"Live: {_count(len(performers), 'performer')}, {_count(len(characters), 'character')}"
    )
    recovering = [b.key.name for b in characters if _has(b, status.RECOVERING)]
    if recovering:
        verb = "eases" if len(recovering) == 1 else "ease"
        return Situation(headline, f"{_names(recovering)} {verb} back to the live motion.", WARN)
    held = [b.key.name for b in characters if _has(b, status.HELD)]
    if held:
        return Situation(
            headline, f"{_names(held)}: a frame could not be solved, the last pose is held.", BAD
        )
    streaming = f"{_names([b.key.name for b in performers])} is streaming"
    if len(performers) != 1:
        streaming = f"{_count(len(performers), 'performer').capitalize()} are streaming"
    if troubled:
        return Situation(headline, f"{streaming}. {'; '.join(remark(b) for b in troubled)}.", GOOD)
    return Situation(headline, f"{streaming}. Every goal is within reach.", GOOD)


def remark(body: BodyView) -> str:
    """What there is to say about a character's newest pose."""
    if not isinstance(body.pose, PoseMessage):
        return ""
    flags = body.pose.status
    parts = [
        text
        for bit, text in (
            (status.STALE, "holds its pose, its performer is silent"),
            (status.RECOVERING, "eases back"),
            (status.HELD, "holds the last good pose"),
            (status.OUT_OF_REACH, "a goal is out of reach"),
            (status.LIMITED, "a joint is at its limit"),
            (status.BRIDGED, "a tear in the capture is bridged"),
        )
        if flags & bit
    ]
    return f"{body.key.name}: {', '.join(parts)}" if parts else ""


def play_command(view: ServerView, performer: str) -> str:
    """The command that makes a performer of the given name."""
    uplink = "" if view.hello is None else f" --to {view.hello.get('uplink', '')}"
    name = performer if performer.isalnum() else f"'{performer}'"
    return f"understudy play walk --loop --name {name}{uplink}"


def _has(body: BodyView, bit: int) -> bool:
    return isinstance(body.pose, PoseMessage) and bool(body.pose.status & bit)


def _count(number: int, thing: str) -> str:
    word = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{word} {thing}{'' if number == 1 else 's'}"


def _names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _sentence(names: Sequence[str]) -> str:
    return f"{_names(names)} {'has' if len(names) == 1 else 'have'}"
