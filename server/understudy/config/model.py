"""What a show is made of: performers, characters, sessions, addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from understudy.errors import UnderstudyError
from understudy_protocol.limits import DEFAULT_CONTROL, DEFAULT_DOWNLINK, DEFAULT_UPLINK

DEFAULT_SOLVER: Final = "clik"

ParameterValue = float | int | bool | str
Stride = Literal["scaled", "performed"]


class ConfigError(UnderstudyError):
    """A show file that cannot be used: `key` is the dotted path of what is wrong."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}" if key else problem)
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Addresses; loopback unless the file says otherwise, `*` as a port means any free one."""

    input: str = DEFAULT_UPLINK
    output: str = DEFAULT_DOWNLINK
    control: str = DEFAULT_CONTROL


@dataclass(frozen=True, slots=True)
class UdpAddress:
    """HOST:PORT of a UDP socket; port 0 is any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class PerformerConfig:
    """How long (s) a performer may be silent, and how long its characters take to ease back.

    A performer who speaks VMC or plain OSC has a UDP address that the server listens at.
    """

    name: str
    stale_after_s: float = 0.25
    ease_s: float = 0.3
    vmc: UdpAddress | None = None
    osc: UdpAddress | None = None


@dataclass(frozen=True, slots=True)
class VmcTarget:
    """A VMC receiver of a character.

    `split_root` sends the way over the floor and the heading in Root; `raw` sends the rig's own
    rotations instead of normalised ones.
    """

    to: UdpAddress
    split_root: bool = False
    raw: bool = False


@dataclass(frozen=True, slots=True)
class CharacterConfig:
    """A character and its body: a built-in one or a file, with a profile if its joints need one.

    `vmc` and `osc` are where its poses go besides ZeroMQ; at `vmc_requests` its VMC receivers may
    ask for a calibration or for fewer messages.
    """

    name: str
    rig: str
    profile: str | None = None
    vmc: tuple[VmcTarget, ...] = ()
    osc: tuple[UdpAddress, ...] = ()
    vmc_requests: UdpAddress | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be changed about a session while it runs, besides its solver and parameters.

    `stride`: steps scaled to the character's legs, or as long as the performer's. `lock_feet`:
    whether planted feet are held. `smoothing`: of the performer's motion, 0 (off) to 1.
    """

    stride: Stride = "scaled"
    lock_feet: bool = True
    smoothing: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """One performer driving one character through one solver.

    `rate_hz` None publishes one pose per frame; a number runs an output clock. `delay_s` is how far
    behind the newest frame the clock samples; None follows the performer's own rate. `profile` is a
    file that says which joint of the performer is which, and how it was calibrated. `enhance`
    corrects the performer's angles by its measured points: the character is its own body.
    `hand_contacts`: hands that rest on something are held there, as planted feet are.
    """

    performer: str
    character: str
    solver: str = DEFAULT_SOLVER
    rate_hz: float | None = None
    delay_s: float | None = None
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    profile: str | None = None
    enhance: bool = False
    hand_contacts: bool = False
    settings: Settings = Settings()


@dataclass(frozen=True, slots=True)
class Config:
    """A whole show."""

    server: ServerConfig = ServerConfig()
    performers: tuple[PerformerConfig, ...] = ()
    characters: tuple[CharacterConfig, ...] = ()
    sessions: tuple[SessionConfig, ...] = ()

    def performer(self, name: str) -> PerformerConfig:
        """What the file says about a performer; the defaults where it says nothing."""
        return next((p for p in self.performers if p.name == name), PerformerConfig(name))

    def character(self, name: str) -> CharacterConfig:
        """What the file says about a character; one it does not list is a built-in body's name."""
        return next((c for c in self.characters if c.name == name), CharacterConfig(name, name))
