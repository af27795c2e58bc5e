"""The server: sockets, threads and the show, put together and taken apart again."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

import zmq

from understudy.config import Config, ConfigError, ShowFile
from understudy.errors import UnderstudyError
from understudy.ingest.plain_source import PlainSource
from understudy.ingest.vmc_source import VmcSource
from understudy.runtime.calibrating import Calibrations
from understudy.runtime.control import answer, keep_house, loop_factory
from understudy.runtime.datagram_intake import DatagramIntake
from understudy.runtime.intake import Intake
from understudy.runtime.operations import Operations
from understudy.runtime.performer import MAX_PERFORMERS
from understudy.runtime.rates import Rates
from understudy.runtime.rehearsal import prepare_character
from understudy.runtime.show import Show
from understudy.runtime.timing import now_ns
from understudy.runtime.udp_ports import UdpPorts
from understudy.runtime.vmc_requests import VmcRequests
from understudy.transport import ControlSocket, FrameInput, PoseOutput, RequestPort, UdpInput
from understudy_protocol.limits import MAX_MESSAGE_BYTES

_log = logging.getLogger(__name__)

# A thread that computes hands over to one that was woken after this long, not after 5 ms.
_SWITCH_INTERVAL_S: Final = 0.0005
# How long the receiving thread may sleep before it looks whether it should end.
_RECEIVE_TIMEOUT_S: Final = 0.1
_START_TIMEOUT_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the server is bound, real port numbers included.

    `udp` has HOST:PORT of every performer who speaks VMC or plain OSC, `requests` of every
    character whose VMC receivers may ask for something, both by name.
    """

    input: str
    output: str
    control: str
    udp: dict[str, str] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)


class Server:
    """A live server: `with Server(config) as server` serves until the block ends.

    `start` returns when every kernel is warm and all three sockets are bound; frames are accepted
    from then on. Settings may be saved in `show_file`. UnderstudyError tells in one line what is
    wrong with the show.
    """

    def __init__(self, config: Config, show_file: ShowFile | None = None) -> None:
        self._config = config
        self._show_file = show_file
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_stop: asyncio.Event | None = None
        self._control_error: BaseException | None = None
        self._output: PoseOutput | None = None
        self._input: FrameInput | None = None
        self._ports: UdpPorts | None = None
        self._switch_interval_s = sys.getswitchinterval()
        self._endpoints: Endpoints | None = None
        self._show: Show | None = None

    @property
    def endpoints(self) -> Endpoints:
        """Where it is bound; only while it runs."""
        if self._endpoints is None:
            raise UnderstudyError("the server is not running")
        return self._endpoints

    @property
    def show(self) -> Show:
        """What it runs; only while it runs."""
        if self._show is None:
            raise UnderstudyError("the server is not running")
        return self._show

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Warm up, bind, serve; leaves nothing behind if it fails."""
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End every thread and close every socket; calling it again does nothing."""
        self._stopping.set()
        if self._loop is not None and self._loop_stop is not None:
            with suppress(RuntimeError):  # the loop has ended already
                self._loop.call_soon_threadsafe(self._loop_stop.set)
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        if self._show is not None:
            self._show.stop()
            self._show = None
        if self._input is not None:
            self._input.close()
            self._input = None
        if self._ports is not None:
            self._ports.close()
        if self._output is not None:
            self._output.close()
        self._context.term()
        self._endpoints = None
        sys.setswitchinterval(self._switch_interval_s)
        gc.unfreeze()

    def _start(self) -> None:
        config = self._config
        characters = [prepare_character(config, i) for i in range(len(config.sessions))]
        ports = self._ports = UdpPorts(config)
        output = self._output = PoseOutput(config.server.output)
        show = self._show = Show(config, output)
        show.start()
        for session, character in zip(config.sessions, characters, strict=True):
            show.open(session, character)
        intake = Intake(show.find_performer, show.find_session, show.order_pipelines, output.send)
        # What exists now stays: the collector need not look at it again in mid-stream.
        gc.collect()
        gc.freeze()
        sys.setswitchinterval(_SWITCH_INTERVAL_S)
        source = self._input = FrameInput(
            config.server.input, MAX_MESSAGE_BYTES, _RECEIVE_TIMEOUT_S, intake.refused
        )
        control, requests = self._start_control(intake, show, output, source.endpoint)
        self._endpoints = Endpoints(
            source.endpoint,
            output.endpoint,
            control,
            {name: str(udp.bound) for name, udp in ports.inputs.items()},
            requests,
        )

        def receive() -> None:
            arrival = source.receive()
            try:
                while arrival is not None:
                    more = source.more
                    output.gather(more)
                    intake.handle(arrival)
                    arrival = source.receive() if more else None
            finally:
                if not source.more:
                    output.flush()

        self._spawn("frames", lambda: self._receive(receive, intake.refused))
        for name, udp in ports.inputs.items():
            self._spawn_datagrams(name, udp, show, output)

    def _spawn_datagrams(self, name: str, udp: UdpInput, show: Show, output: PoseOutput) -> None:
        """A receiving thread for a performer who sends datagrams."""
        performer = show.find_performer(name)
        if performer is None:
            raise ConfigError(f"performers.{name}", f"one too many; allowed: {MAX_PERFORMERS}")
        stream = performer.stream
        intake = DatagramIntake(
            performer,
            VmcSource(stream) if performer.config.vmc is not None else PlainSource(stream),
            udp,
            show.order_pipelines,
            output.send,
        )
        self._spawn(f"frames {name}", lambda: self._receive(intake.receive, performer.refused))

    def _receive(self, receive: Callable[[], None], refused: Counter[str]) -> None:
        complained_ns = 0
        while not self._stopping.is_set():
            try:
                receive()
            except Exception:
                # A fault of ours must not end the show; it is told once a second.
                refused["internal"] += 1
                if now_ns() - complained_ns > 1_000_000_000:
                    complained_ns = now_ns()
                    _log.exception("a frame could not be handled")

    def _start_control(
        self, intake: Intake, show: Show, output: PoseOutput, uplink: str
    ) -> tuple[str, dict[str, str]]:
        """Run the control loop in a thread; its endpoint, and where VMC receivers may ask."""
        ready = threading.Event()
        endpoint = ""
        requests: dict[str, str] = {}

        async def serve() -> None:
            nonlocal endpoint
            socket = ControlSocket(self._context, self._config.server.control)
            rates = Rates(show, intake)
            addresses = {"uplink": uplink, "downlink": output.endpoint}
            calibrations = Calibrations(show)
            operations = Operations(
                self._config, show, intake, rates, addresses, calibrations, self._show_file
            )
            ports = await _open_request_ports(self._config, show, calibrations)
            requests.update({name: str(port.bound) for name, port in ports.items()})
            self._loop_stop = asyncio.Event()
            self._loop = asyncio.get_running_loop()
            endpoint = socket.endpoint
            ready.set()
            output.open_doors(self._loop, show.greeting, show.heed_audience)
            tasks = [
                asyncio.create_task(answer(socket, operations)),
                asyncio.create_task(keep_house(output, show, rates)),
                asyncio.create_task(self._loop_stop.wait()),
            ]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                output.close_doors()
                for port in ports.values():
                    port.close()
                calibrations.stop()
                socket.close()

        def run() -> None:
            try:
                with asyncio.Runner(loop_factory=loop_factory()) as runner:
                    runner.run(serve())
            except UnderstudyError as error:
                self._control_error = error
            finally:
                ready.set()

        self._spawn("control", run)
        ready.wait(_START_TIMEOUT_S)
        if self._control_error is not None:
            raise self._control_error
        return endpoint, requests

    def _spawn(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()


async def _open_request_ports(
    config: Config, show: Show, calibrations: Calibrations
) -> dict[str, RequestPort]:
    """Listen for the requests of VMC receivers, for every character the show file says so."""
    ports: dict[str, RequestPort] = {}
    for character in config.characters:
        address = character.vmc_requests
        if address is None:
            continue
        requests = VmcRequests(show, character.name, calibrations)
        try:
            port = await RequestPort.open(address.host, address.port, requests.take)
        except UnderstudyError as error:
            for opened in ports.values():
                opened.close()
            raise ConfigError(f"characters.{character.name}.vmc_requests", str(error)) from None
        ports[character.name] = port
        requests.bound = port.bound
    return ports
