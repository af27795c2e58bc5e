"""A server and a bare echo under a growing crowd: how many characters does each hold?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from understudy.characters import Clip
from understudy.characters.builtin.bodies import BUILDS, build_body
from understudy.characters.bvh_write import write_bvh
from understudy_bench.crowd import Crowd, Trial
from understudy_bench.crowd_sockets import VmcCrowd, ZmqCrowd, performer_name
from understudy_bench.pinning import pin
from understudy_bench.processes import (
    SERVE,
    Process,
    ServerProcess,
    echo_process,
    udp_echo_process,
)
from understudy_client import Control

# A server lets 64 in, one of whom is nobody; beyond that each drives more than one character.
MOST_PERFORMERS: Final = 63
_PATIENCE_S: Final = 30.0
# A show needs a session; nobody performs in this one.
_IDLE: Final = {"performer": "nobody", "character": "idle", "rig": "short-legs", "solver": "copy"}
_TORSO: Final = ("spine", "spine2", "chest", "chest2", "upperChest", "upperChest2")


@dataclass(frozen=True, slots=True)
class Terms:
    """The same for every contender: motion, the characters' rig, frames of a try, solver."""

    clip: Clip
    rig: str
    frames: int
    solver: str = "clik"
    server_command: Sequence[str] = SERVE


class Contender(Protocol):
    """A process on one core that can be tried with any number of characters.

    `profiles` has, for numbers tried, the time (us) that a frame spends in each of the process's
    stages, p50, if it tells.
    """

    cpu_s: float
    profiles: dict[int, dict[str, float]]

    def attempt(self, characters: int, tries: int) -> Trial:
        """Try it with that many, up to `tries` times until it holds them; the best try."""

    def close(self) -> None:
        """End its processes; `cpu_s` is then all the processor time they used."""


def write_rig(folder: Path) -> str:
    """A file with the body that every character has: short legs and 25 joints."""
    body = build_body(replace(BUILDS["short-legs"], torso_joints=_TORSO))
    rest = body.rest_pose()
    path = folder / "character.bvh"
    write_bvh(path, Clip("rest", body, 120.0, rest.root[None], rest.rotations_xyzw[None]))
    return str(path)


def casting(characters: int) -> list[list[str]]:
    """The characters of each performer: one, if there are performers enough."""
    performers = min(characters, MOST_PERFORMERS)
    driven: list[list[str]] = [[] for _ in range(performers)]
    for i in range(characters):
        driven[i % performers].append(f"character-{i}")
    return driven


class ZmqServer:
    """One server; sessions are opened for a try and closed behind it."""

    def __init__(self, terms: Terms) -> None:
        self.cpu_s = 0.0
        self.profiles: dict[int, dict[str, float]] = {}
        self._terms = terms
        self._next_seq = 0
        self._stack = ExitStack()
        self._server = self._stack.enter_context(ServerProcess([_IDLE], terms.server_command))
        pin(self._server)

    def attempt(self, characters: int, tries: int) -> Trial:
        """Open that many sessions, play, close them."""
        driven = casting(characters)
        with Control(self._server.endpoints["control"], timeout=_PATIENCE_S) as control:
            for i, names in enumerate(driven):
                for name in names:
                    control.request(
                        "open",
                        performer=performer_name(i),
                        character=name,
                        rig=self._terms.rig,
                        solver=self._terms.solver,
                    )
            topics = [[f"{name}/pose".encode() for name in names] for names in driven]
            sockets = ZmqCrowd(self._server.endpoints, self._terms.clip, topics, "source_seq")
            crowd = Crowd("server", self._server, sockets, self._next_seq)
            try:
                with closing(sockets):
                    trial = crowd.run(self._terms.frames, tries)
                told = control.request("stats", character=driven[0][0])["characters"][0]
                self.profiles[characters] = {
                    stage: float(times["p50"]) for stage, times in told["stages_us"].items()
                }
                return trial
            finally:
                self._next_seq = crowd.next_seq
                for names in driven:
                    for name in names:
                        control.request("close", character=name)

    def close(self) -> None:
        """End the server."""
        self.cpu_s = self._server.cpu_s()
        self._stack.close()


class ZmqEcho:
    """One echo, which returns a performer's frames as they are."""

    def __init__(self, terms: Terms) -> None:
        self.cpu_s = 0.0
        self.profiles: dict[int, dict[str, float]] = {}
        self._terms = terms
        self._stack = ExitStack()
        self._echo = self._stack.enter_context(echo_process())
        pin(self._echo)

    def attempt(self, characters: int, tries: int) -> Trial:
        """Let that many performers play."""
        topics = [[f"{performer_name(i)}/frame".encode()] for i in range(characters)]
        sockets = ZmqCrowd(self._echo.endpoints, self._terms.clip, topics, "seq")
        with closing(sockets):
            return Crowd("echo", self._echo, sockets).run(self._terms.frames, tries)

    def close(self) -> None:
        """End the echo."""
        self.cpu_s = self._echo.cpu_s()
        self._stack.close()


class VmcContender:
    """A server or an echo of VMC: it has a port for each performer, so each number its own."""

    def __init__(self, what: str, terms: Terms, start: Callable[[VmcCrowd], Process]) -> None:
        self.cpu_s = 0.0
        self.profiles: dict[int, dict[str, float]] = {}
        self._what = what
        self._terms = terms
        self._start = start
        self._stack = ExitStack()
        self._running: tuple[int, Process, VmcCrowd] | None = None
        self._next_seq = 0

    def attempt(self, characters: int, tries: int) -> Trial:
        """Start it with that many ports, if it is not running with them, and play."""
        if self._running is None or self._running[0] != characters:
            self.close()
            driven = casting(characters) if self._what == "server" else [[""]] * characters
            sockets = VmcCrowd(self._terms.clip, [len(names) for names in driven])
            self._stack.enter_context(closing(sockets))
            process = self._stack.enter_context(self._start(sockets))
            pin(process)
            sockets.connect(process.udp)
            self._running = (characters, process, sockets)
        _, process, sockets = self._running
        crowd = Crowd(self._what, process, sockets, self._next_seq)
        try:
            return crowd.run(self._terms.frames, tries)
        finally:
            self._next_seq = crowd.next_seq

    def close(self) -> None:
        """End it, if it runs."""
        if self._running is not None:
            self.cpu_s += self._running[1].cpu_s()
            self._running = None
        self._stack.close()


def vmc_server(terms: Terms) -> VmcContender:
    """`understudy serve` with VMC performers and VMC receivers."""

    def start(sockets: VmcCrowd) -> Process:
        driven = casting(sum(len(rows) for rows in sockets.cast))
        sessions = [
            {
                "performer": performer,
                "character": name,
                "rig": terms.rig,
                "solver": terms.solver,
                "vmc_to": sockets.target,
            }
            for performer, names in zip(sockets.performers, driven, strict=True)
            for name in names
        ]
        return ServerProcess(sessions, terms.server_command)

    return VmcContender("server", terms, start)


def vmc_echo(terms: Terms) -> VmcContender:
    """A bare echo of datagrams, with a thread for each performer as the server has."""
    return VmcContender(
        "echo", terms, lambda sockets: udp_echo_process(sockets.target, sockets.performers)
    )


class Search:
    """Bisection: the largest number that is held, between 0 and `most`.

    A number counts as held if no deadline was missed in the best of `tries`.
    """

    def __init__(self, contender: Contender, most: int, tries: int) -> None:
        self.held = 0
        self._contender = contender
        self._tries = tries
        self._above = most + 1
        self._next = min(8, most)

    @property
    def done(self) -> bool:
        """Whether nothing is left between what is held and what is not."""
        return self._above - self.held <= max(1, self.held // 16)

    def step(self) -> Trial:
        """Try the next number, several times if it is not held at once; the best try."""
        number = self._next
        best = self._contender.attempt(number, self._tries)
        if best.held:
            self.held = number
        else:
            self._above = number
        doubled = 2 * number if best.held else self._above
        self._next = doubled if doubled < self._above else (self.held + self._above) // 2
        return best
