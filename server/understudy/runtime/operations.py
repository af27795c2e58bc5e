"""What a control request does: fields in, fields out, or a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final

import understudy
from understudy.align.enhancer import SOLVER_PARAMETERS as ENHANCER_PARAMETERS
from understudy.config import (
    SETTING_KEYS,
    CharacterConfig,
    Config,
    ConfigError,
    LiveSession,
    SaveError,
    ShowFile,
    check_settings,
    parse_session,
    parse_settings,
)
from understudy.errors import UnderstudyError
from understudy.runtime.calibrating import COUNTDOWN_S, HOLD_S, Calibrations
from understudy.runtime.intake import Intake
from understudy.runtime.performer import Performer
from understudy.runtime.rates import Rates
from understudy.runtime.rehearsal import prepare_character
from understudy.runtime.session import Session
from understudy.runtime.show import Show
from understudy.runtime.timing import now_ns, wall_ns
from understudy.solvers import SOLVERS
from understudy.solvers.registry import SOLVER_PARAMETERS
from understudy_protocol.control import Request, check_request
from understudy_protocol.limits import PROTOCOL_VERSION

Fields = dict[str, Any]  # what msgpack carries: nil, booleans, numbers, text, lists and maps

# A performer not heard for this long is `silent` in a listing.
_SILENT_NS: Final = 1_000_000_000
# Of the parameters of one character alone these are told; there is one for every joint besides.
_SOFTNESS: Final = "softness."
_STREAM_COUNTS: Final = ("late", "duplicate", "gaps", "lost", "restarts")
_NOT_REFUSALS: Final = (
    *_STREAM_COUNTS,
    "accepted",
    "clock-jumps",
    "skeleton-changes",
    "teleports",
)


class RefusedError(UnderstudyError):
    """A request that is well formed and cannot be carried out; `reason` is a word for programs."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Operations:
    """The operations of the control channel, each a method that takes the request's fields."""

    def __init__(
        self,
        config: Config,
        show: Show,
        intake: Intake,
        rates: Rates,
        addresses: Mapping[str, str],
        calibrations: Calibrations,
        show_file: ShowFile | None = None,
    ) -> None:
        self._config = config
        self._show = show
        self._intake = intake
        self._rates = rates
        self._addresses = dict(addresses)
        self._calibrations = calibrations
        self._show_file = show_file
        self._started_ns = now_ns()
        self._table: dict[str, Callable[[Mapping[str, Any]], Awaitable[Fields]]] = {
            "hello": self._hello,
            "list": self._list,
            "open": self._open,
            "close": self._close,
            "set": self._set,
            "reset": self._reset,
            "stats": self._stats,
            "time": self._time,
            "calibrate": self._calibrate,
            "save": self._save,
        }

    async def carry_out(self, request: Request, received_ns: int) -> Fields:
        """The reply's fields; ProtocolError or RefusedError say why there are none.

        `received_ns` is when the request came, on the performance counter.
        """
        check_request(request)
        if request.op == "time":
            return await self._time({**request.fields, "t2": wall_ns(received_ns)})
        return await self._table[request.op](request.fields)

    async def _hello(self, fields: Mapping[str, Any]) -> Fields:
        return {
            "v": PROTOCOL_VERSION,
            "server": "understudy",
            "version": understudy.__version__,
            "ops": list(self._table),
            **self._addresses,
        }

    async def _time(self, fields: Mapping[str, Any]) -> Fields:
        return {"t1": fields["t1"], "t2": fields["t2"], "t3": wall_ns(now_ns())}

    async def _list(self, fields: Mapping[str, Any]) -> Fields:
        at_ns = now_ns()
        sessions = self._show.sessions.values()
        return {
            "performers": [_performer(p, at_ns) for p in self._show.performers.values()],
            "characters": [
                {
                    "name": s.character.name,
                    "skeleton": s.character.skeleton_id,
                    "joints": len(s.character.skeleton),
                }
                for s in sessions
            ],
            "sessions": [_session(s) for s in sessions],
            "solvers": list(SOLVERS),
            "parameters": {
                solver: [asdict(parameter) for parameter in parameters]
                for solver, parameters in SOLVER_PARAMETERS.items()
            },
        }

    async def _open(self, fields: Mapping[str, Any]) -> Fields:
        known = {
            "performer": "performer",
            "character": "character",
            "solver": "solver",
            "rate_hz": "rate_hz",
            "params": "parameters",
            **{key: key for key in SETTING_KEYS},
        }
        wanted = {key: fields[name] for name, key in known.items() if fields.get(name) is not None}
        try:
            session = parse_session(wanted)
            characters = self._config.characters
            if fields.get("rig") is not None:
                characters = (CharacterConfig(session.character, fields["rig"]),)
            config = replace(self._config, characters=characters, sessions=(session,))
            if self._show.find_session(session.character) is not None:
                raise RefusedError("taken", f"character {session.character!r} is driven already")
            # Loading a rig and compiling take long: not on the loop that answers everyone.
            character = await asyncio.to_thread(prepare_character, config, 0)
            return {"session": _session(self._show.open(session, character))}
        except ConfigError as error:
            raise RefusedError("bad-value", str(error)) from None

    async def _close(self, fields: Mapping[str, Any]) -> Fields:
        self._find(fields)
        await asyncio.to_thread(self._show.close, fields["character"])
        return {}

    async def _set(self, fields: Mapping[str, Any]) -> Fields:
        session = self._find(fields)
        params = fields.get("params") or {}
        solver = fields.get("solver") or session.config.solver
        wanted = {key: fields[key] for key in SETTING_KEYS if fields.get(key) is not None}
        try:
            settings = parse_settings(wanted, session.config.settings)
            check_settings("session", replace(session.config, settings=settings))
            if solver != session.config.solver:
                # Compiling takes long: not on the loop that answers everyone.
                await asyncio.to_thread(self._show.change_solver, session, solver, params)
            elif params:
                session.set_parameters(params)
            if wanted:
                session.change_settings(settings)
            return {"solver": solver, "params": session.parameters(), **asdict(settings)}
        except LookupError as error:
            raise RefusedError("not-ready", str(error)) from None
        except UnderstudyError as error:
            raise RefusedError("bad-value", str(error)) from None

    async def _reset(self, fields: Mapping[str, Any]) -> Fields:
        self._find(fields).reset()
        return {}

    async def _calibrate(self, fields: Mapping[str, Any]) -> Fields:
        performer = self._show.performers.get(fields["performer"])
        if performer is None or not performer.sessions:
            known = ", ".join(sorted(p.name for p in self._show.performers.values() if p.sessions))
            raise RefusedError(
                "unknown-performer",
                f"performer {fields['performer']!r} drives nobody; those who do: {known or 'none'}",
            )
        countdown_s = fields.get("countdown_s", COUNTDOWN_S)
        hold_s = fields.get("hold_s", HOLD_S)
        self._calibrations.start(performer, countdown_s, hold_s)
        return {"seconds": countdown_s + hold_s}

    async def _save(self, fields: Mapping[str, Any]) -> Fields:
        if self._show_file is None:
            raise RefusedError("no-file", "the server was started without a show file to save to")
        live = [_live_session(session) for session in self._show.sessions.values()]
        try:
            saved = await asyncio.to_thread(self._show_file.save, live)
        except SaveError as error:
            raise RefusedError("not-saved", str(error)) from None
        left_out = [each.config.character for each in live if each.config.character not in saved]
        return {"file": str(self._show_file.path), "saved": saved, "left_out": left_out}

    async def _stats(self, fields: Mapping[str, Any]) -> Fields:
        if fields.get("character") is None:
            sessions = list(self._show.sessions.values())
            performers = list(self._show.performers.values())
        else:
            sessions = [self._find(fields)]
            performers = [self._show.performers[sessions[0].config.performer]]
        return {
            "uptime_s": (now_ns() - self._started_ns) * 1e-9,
            "performers": [self._performer_stats(p) for p in performers],
            "characters": [self._character_stats(s) for s in sessions],
            "refused": dict(self._intake.refused),
        }

    def _performer_stats(self, performer: Performer) -> Fields:
        counts = dict(performer.stream.counts)
        refused = {k: v for k, v in counts.items() if k not in _NOT_REFUSALS}
        return {
            "name": performer.name,
            "frames": counts.get("accepted", 0),
            "rate_hz": self._rates.performer(performer.name),
            **{key: counts.get(key, 0) for key in _STREAM_COUNTS},
            "clock_jumps": counts.get("clock-jumps", 0),
            "skeleton_changes": counts.get("skeleton-changes", 0),
            "teleports": counts.get("teleports", 0),
            "refused": {**refused, **performer.refused},
        }

    def _character_stats(self, session: Session) -> Fields:
        stages = session.times.summary_us()
        work = stages.pop("total", {"p50": 0.0, "p99": 0.0, "max": 0.0})
        return {
            "name": session.character.name,
            "poses": session.times.count,
            "rate_hz": self._rates.character(session.character.name),
            "dropped": session.counts["dropped"],
            "work_us": work,
            "stages_us": stages,
            "counts": dict(session.counts),
            "problem": session.problem,
        }

    def _find(self, fields: Mapping[str, Any]) -> Session:
        name = fields["character"]
        session = self._show.find_session(name)
        if session is None:
            known = ", ".join(sorted(self._show.sessions)) or "none"
            raise RefusedError(
                "unknown-character", f"character {name!r} has no session; those that have: {known}"
            )
        return session


def _performer(performer: Performer, at_ns: int) -> Fields:
    skeleton = performer.stream.skeleton
    heard = performer.heard_ns
    if heard is None:
        state = "unknown"
    else:
        state = "live" if at_ns - heard < _SILENT_NS else "silent"
    return {
        "name": performer.name,
        "state": state,
        "skeleton": None if skeleton is None else performer.stream.skeleton_id,
        "joints": None if skeleton is None else len(skeleton),
    }


def _live_session(session: Session) -> LiveSession:
    known = SOLVER_PARAMETERS[session.config.solver]
    whole = {p.name for p in known if p.whole and not p.choices}
    values = {k: int(v) if k in whole else v for k, v in session.parameters().items()}
    config = replace(session.config, parameters=values)
    defaults = {p.name: p.shown(p.default) for p in known}
    if config.enhance:
        defaults.update(ENHANCER_PARAMETERS.get(config.solver, {}))
    return LiveSession(config, defaults)


def _session(session: Session) -> Fields:
    return {
        "performer": session.config.performer,
        "character": session.character.name,
        "solver": session.config.solver,
        "rate_hz": session.config.rate_hz,
        "params": session.parameters(),
        "parameters": [asdict(p) for p in session.own_parameters() if p.name.startswith(_SOFTNESS)],
        **asdict(session.config.settings),
    }
