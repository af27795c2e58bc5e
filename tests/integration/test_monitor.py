"""The monitor's page in a real browser, beside a real server and a performer in real time.

One server, one monitor and one page serve every test of this file, in the order they stand here:
each leaves the show as it found it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from support.browser import browsing, find_chromium, wait_until
from understudy.characters import load_character, load_clip, read_bvh
from understudy.commands.pacing import Metronome
from understudy.config import Settings, ShowFile, load_config
from understudy.ingest import message_from_skeleton
from understudy.kinematics import FloatArray
from understudy.kinematics.rotations import matrix
from understudy.runtime.server import Endpoints, Server
from understudy_client import Character, Control, Performer
from understudy_protocol import PoseMessage

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytest.importorskip("viser", reason="viser is not installed", exc_type=ImportError)

import viser
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.typing import Subprotocol

RATE_HZ = 30.0
PICTURES = os.environ.get("UNDERSTUDY_SCREENSHOTS")

SHOW = """\
# What the monitor's test is about.
[server]
input = "{input}"
output = "{output}"
control = "{control}"

[[session]]
performer = "alice"
character = "giant" # tall
solver = "clik"
"""
ANY_PORT = dict.fromkeys(("input", "output", "control"), "tcp://127.0.0.1:*")


class Actor:
    """Sends a clip over and over, or stands still at rest while `still` is set."""

    def __init__(self, address: str) -> None:
        self.clip = load_clip("bat-swing", RATE_HZ)
        self.still = threading.Event()
        self._stop = threading.Event()
        self._address = address
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        skeleton = self.clip.skeleton
        rest = skeleton.rest_pose()
        with Performer("alice", message_from_skeleton(skeleton), self._address) as performer:
            performer.wait_ready(60.0)
            for beat in Metronome(RATE_HZ).beats():
                if self._stop.is_set():
                    return
                frame = beat % self.clip.frame_count
                root, turns = self.clip.roots[frame], self.clip.rotations_xyzw[frame]
                if self.still.is_set():
                    root, turns = rest.root, rest.rotations_xyzw
                performer.send(root, turns, capture_ns=int(beat * 1e9 / RATE_HZ))

    def close(self) -> None:
        self._stop.set()
        self._thread.join()


class Witness:
    """Keeps the poses of the character as they were published."""

    def __init__(self, address: str) -> None:
        self.poses: dict[int, PoseMessage] = {}
        self._stop = threading.Event()
        self._address = address
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with Character("giant", self._address) as character:
            while not self._stop.is_set():
                pose = character.receive(0.2)
                if pose is not None:
                    self.poses[pose.seq] = pose

    def close(self) -> None:
        self._stop.set()
        self._thread.join()


class Set:
    """A show that runs, the monitor beside it, and a page that looks at it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        chromium = find_chromium()
        self.show = folder / "show.toml"
        self.takes = folder / "takes"
        self.start_server(ANY_PORT)
        self.endpoints = self.server.endpoints
        stack.callback(lambda: self.server.stop())
        self.actor = Actor(self.endpoints.input)
        stack.callback(self.actor.close)
        self.witness = Witness(self.endpoints.output)
        stack.callback(self.witness.close)
        process = stack.enter_context(monitor(self.endpoints, self.takes))
        # Monitor and browser take seconds each to start: both at once.
        size = (1440, 790) if PICTURES else (800, 500)
        self.context = stack.enter_context(browsing(chromium, *size))
        self.url = page_address(process)
        self.control = stack.enter_context(Control(self.endpoints.control, 20.0))
        self.asked: list[str] = []
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.page = self.open_page()
        self.wait(lambda: "Live: one performer" in self.status(), "the live state")

    def start_server(self, addresses: dict[str, str]) -> None:
        """Serve the show anew, at these addresses."""
        self.show.write_text(SHOW.format(**addresses), encoding="utf-8")
        show_file = ShowFile(self.show)
        self.server = Server(show_file.config, show_file)
        self.server.start()

    def open_page(self) -> Page:
        """Another viewer; every address it ever asks for is kept."""
        page = self.context.new_page()
        page.on("websocket", lambda socket: self.asked.append(socket.url))
        # Few pixels: the renderer of a machine without a graphics card is slow.
        page.goto(f"{self.url}/?fixedDpr={1 if PICTURES else 0.25}")
        return page

    def wait(self, condition: Any, what: str) -> None:
        wait_until(self.page, condition, what)

    def status(self) -> str:
        card = self.page.get_by_test_id("status")
        return card.inner_text() if card.count() else ""

    def session(self) -> dict[str, Any]:
        """The giant's session as the server has it."""
        return dict(self.control.request("list")["sessions"][0])

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def open_tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def said(self, name: str) -> str:
        note = self.page.get_by_test_id(name)
        return note.inner_text() if note.count() else ""

    def keep_picture(self, name: str) -> None:
        """For people to look at, in the folder that UNDERSTUDY_SCREENSHOTS names."""
        if PICTURES:
            self.page.screenshot(path=Path(PICTURES) / f"{name}.png", timeout=120_000)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Set]:
    with ExitStack() as stack:
        yield Set(tmp_path_factory.mktemp("monitor"), stack)


@contextmanager
def monitor(endpoints: Endpoints, takes: Path) -> Iterator[subprocess.Popen[str]]:
    """The monitor in its own process."""
    command = [
        sys.executable, "-m", "understudy", "monitor", "--page-port", "0",
        "--from", endpoints.output, "--control", endpoints.control, "--takes", str(takes),
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()
            assert process.wait(20.0) == 0


def page_address(process: subprocess.Popen[str]) -> str:
    """Where a monitor's page is, as soon as it is there."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("monitor: open http://127.0.0.1:"), line
    return line.split()[-1]


def bones(page: Page) -> dict[str, list[float]]:
    """Places of every body's bones as the page has them."""
    found: dict[str, list[float]] = page.evaluate(
        """() => typeof __viserSceneTree === "undefined" ? {} :
            Object.fromEntries(Object.entries(__viserSceneTree.getState())
            .filter(([name]) => /^\\/stage\\/body\\d+\\/bones$/.test(name))
            .map(([name, node]) => {
                const bytes = node.message.props.batched_positions;
                const copy = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
                return [name, Array.from(new Float32Array(copy.slice().buffer))];
            }))"""
    )
    return found


def check_motion(page: Page) -> None:
    """A performer and a character are on the page, and both move."""
    wait_until(page, lambda: len(bones(page)) == 2, "two bodies on the stage")
    before = bones(page)

    def moved() -> bool:
        now = bones(page)
        return now.keys() == before.keys() and all(now[name] != before[name] for name in now)

    wait_until(page, moved, "motion")


def drawn_frames(page: Page) -> int:
    return int(page.evaluate("__viserTestpoints.rendererInfo.render.frame"))


def slider(stage: Set, label: str) -> Locator:
    """The slider beside a label."""
    text = f"//*[normalize-space(text())='{label}']/ancestor::*[.//*[@role='slider']][1]"
    return stage.page.locator(text).get_by_role("slider")


def shown(a_slider: Locator) -> float:
    """The value a slider shows."""
    return float(a_slider.get_attribute("aria-valuenow") or "nan")


def test_performer_and_character_move_on_the_page(stage: Set) -> None:
    check_motion(stage.page)
    drawn = drawn_frames(stage.page)
    stage.wait(lambda: drawn_frames(stage.page) > drawn, "a drawn frame")
    stage.keep_picture("early")


def test_a_slider_changes_the_server_s_parameter_and_undo_takes_it_back(stage: Set) -> None:
    before = stage.session()["params"]["k1"]
    stage.open_tab("Controls")
    k1 = slider(stage, "k1")
    k1.press("ArrowLeft")
    stage.wait(
        lambda: before > stage.session()["params"]["k1"] == pytest.approx(shown(k1)),
        "the slider's effect",
    )
    stage.button("Undo").click()
    stage.wait(lambda: stage.session()["params"]["k1"] == before, "the undo")
    stage.keep_picture("controls")


def test_one_button_undoes_every_change(stage: Set) -> None:
    before = stage.session()
    stage.open_tab("Controls")
    stage.page.get_by_role("combobox", name="Stride").click()
    stage.page.get_by_role("option", name="performed").click()
    stage.wait(lambda: stage.session()["stride"] == "performed", "the other stride")
    stage.page.get_by_label("Lock feet").click()
    stage.wait(lambda: stage.session()["lock_feet"] is False, "feet that are not held")
    slider(stage, "Smoothing").press("ArrowRight")
    stage.wait(lambda: stage.session()["smoothing"] > 0.0, "the filter")
    stage.page.get_by_role("combobox", name="Solver").click()
    stage.page.get_by_role("option", name="copy").click()
    stage.wait(lambda: stage.session()["solver"] == "copy", "the other solver")
    stage.button("Undo all changes").click()
    stage.wait(lambda: stage.session() == before, "everything as it was")
    stage.wait(lambda: shown(slider(stage, "Smoothing")) == 0.0, "the page that says so")


def test_settings_are_saved_in_the_show_file(stage: Set) -> None:
    stage.open_tab("Controls")
    slider(stage, "Smoothing").press("ArrowRight")
    stage.wait(lambda: stage.session()["smoothing"] == 0.05, "the filter")
    stage.button("Save settings").click()
    stage.wait(lambda: "Saved giant" in stage.said("said"), "the word that it is saved")
    assert load_config(stage.show).sessions[0].settings == Settings(smoothing=0.05)
    assert '"giant" # tall\n' in stage.show.read_text(encoding="utf-8")
    stage.button("Undo").click()
    stage.wait(lambda: stage.session()["smoothing"] == 0.0, "the undo")
    stage.open_tab("Live")


def test_a_take_is_what_was_streamed(stage: Set) -> None:
    actor, witness, takes = stage.actor, stage.witness, stage.takes
    first = len(witness.poses)
    stage.page.get_by_role("button", name="Record").click()
    stage.wait(lambda: len(witness.poses) > first + 45, "a second and a half of poses")
    stage.page.get_by_role("button", name="Stop recording").click()
    stage.wait(lambda: bool(list(takes.glob("take-*/take.json"))), "the files")
    folder = next(takes.glob("take-*"))
    take = json.loads((folder / "take.json").read_text(encoding="utf-8"))
    bodies = {body["kind"]: body for body in take["bodies"]}
    assert len(bodies["performer"]["seq"]) > 10
    frames = [seq % actor.clip.frame_count for seq in bodies["performer"]["seq"]]
    assert_same_motion(
        folder / bodies["performer"]["file"],
        actor.clip.skeleton.names,
        bodies["performer"]["times_ns"],
        list(range(len(frames))),
        actor.clip.roots[frames],
        actor.clip.rotations_xyzw[frames],
    )
    # On a busy machine the witness may have missed some that the monitor has.
    seen = [i for i, seq in enumerate(bodies["character"]["seq"]) if seq in witness.poses]
    assert len(seen) > 10
    poses = [witness.poses[bodies["character"]["seq"][i]] for i in seen]
    assert_same_motion(
        folder / bodies["character"]["file"],
        load_character("giant").names,
        bodies["character"]["times_ns"],
        seen,
        np.array([pose.root for pose in poses], np.float64),
        np.array([pose.rotations_xyzw for pose in poses], np.float64),
    )


def assert_same_motion(
    path: Path,
    joints: tuple[str, ...],
    times_ns: list[int],
    compared: list[int],
    roots: FloatArray,
    rotations_xyzw: FloatArray,
) -> None:
    """The file has these poses, each where its time says; `compared` are their places in it."""
    clip = read_bvh(path, unit_m=0.01, up="y").clip
    assert clip.rate_hz == pytest.approx(RATE_HZ)
    at = np.round((np.array(times_ns) - times_ns[0]) * 1e-9 * RATE_HZ).astype(np.int64)
    assert clip.frame_count == at[-1] + 1
    at = at[compared]
    np.testing.assert_allclose(clip.roots[at], roots, atol=1e-5)
    order = [clip.skeleton.index(name) for name in joints]  # a BVH file has its own
    found = matrix(clip.rotations_xyzw[at][:, order])
    np.testing.assert_allclose(found, matrix(rotations_xyzw), atol=1e-5)


def test_a_calibration_counts_down_and_says_how_it_went(stage: Set) -> None:
    stage.actor.still.set()
    stage.button("Calibrate").click()
    stage.page.get_by_test_id("countdown").wait_for()
    assert "T- or A-pose, please" in stage.said("countdown")
    stage.keep_picture("countdown")
    stage.wait(lambda: "alice is calibrated" in stage.said("calibration"), "the outcome")
    stage.actor.still.clear()
    stage.wait(lambda: not stage.page.get_by_test_id("countdown").is_visible(), "the board's end")


@contextmanager
def viewer(stage: Set) -> Iterator[Connection]:
    """Another viewer's connection to the monitor, without a browser around it."""
    host = urlsplit(stage.url).netloc
    version = Subprotocol(f"viser-v{viser.__version__}")
    with connect(
        f"ws://{host}",
        subprotocols=[version],
        max_size=None,
        close_timeout=0.1,  # one that does not read cannot take its leave either
    ) as connection:
        yield connection


def test_viewers_that_hang_or_sleep_cost_the_others_nothing(stage: Set) -> None:
    before = stage.control.request("stats")["characters"][0]
    tab = stage.context.new_cdp_session(stage.page)
    with viewer(stage) as awake, viewer(stage):  # the second one never reads
        # What a browser does to a page in the background: it stops, its connection stays.
        tab.send("Page.setWebLifecycleState", {"state": "frozen"})
        for _ in range(30):
            assert awake.recv(timeout=20.0)
        tab.send("Page.setWebLifecycleState", {"state": "active"})
        check_motion(stage.page)
    after = stage.control.request("stats")["characters"][0]
    assert after["poses"] > before["poses"]
    assert after["dropped"] == before["dropped"]


class Elsewhere(BaseHTTPRequestHandler):
    """An empty page of another origin."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@contextmanager
def another_site() -> Iterator[str]:
    """A web site on this machine that is not the monitor's; its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_page_of_another_origin_gets_no_connection(stage: Set) -> None:
    address = f"ws://{urlsplit(stage.url).netloc}"
    ask = """address => new Promise(answer => {
        const socket = new WebSocket(address);
        socket.onopen = () => answer("open");
        socket.onerror = () => answer("refused");
    })"""
    assert stage.page.evaluate(ask, address) == "open"
    with another_site() as site, suppress_strangers(stage):
        stranger = stage.context.new_page()
        stranger.goto(site)
        assert stranger.evaluate(ask, address) == "refused"
        stranger.close()


@contextmanager
def suppress_strangers(stage: Set) -> Iterator[None]:
    """What is asked for meanwhile is not the monitor's page's."""
    known = len(stage.asked)
    yield
    del stage.asked[known:]


def test_without_its_server_the_page_waits_and_goes_on_with_the_next(stage: Set) -> None:
    stage.server.stop()
    stage.wait(lambda: "Waiting for the server" in stage.status(), "the wait")
    assert "understudy serve" in stage.page.inner_text("body")
    stage.keep_picture("waiting")
    addresses = {name: getattr(stage.endpoints, name) for name in ANY_PORT}
    stage.start_server(addresses)
    stage.wait(lambda: "Live: one performer" in stage.status(), "the return")
    check_motion(stage.page)
    stage.keep_picture("later")


def test_the_page_asked_nobody_but_the_monitor(stage: Set) -> None:
    own = urlsplit(stage.url).netloc
    foreign = [
        address
        for address in stage.asked
        if urlsplit(address).scheme not in ("blob", "data") and urlsplit(address).netloc != own
    ]
    assert stage.asked
    assert foreign == []
