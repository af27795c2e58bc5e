"""The monitor's page in a real browser, beside a real server and a performer in real time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from support.browser import browsing, wait_until
from understudy.characters import load_character, load_clip, read_bvh
from understudy.commands.pacing import Metronome
from understudy.config import parse_config
from understudy.ingest import message_from_skeleton
from understudy.kinematics import FloatArray
from understudy.kinematics.rotations import matrix
from understudy.runtime.server import Endpoints, Server
from understudy_client import Character, Control, Performer
from understudy_protocol import PoseMessage

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytest.importorskip("viser", reason="viser is not installed", exc_type=ImportError)

RATE_HZ = 30.0
SESSION = {"performer": "alice", "character": "giant", "solver": "clik"}


def open_server(endpoints: Endpoints | None = None) -> Server:
    """A running server, at the addresses of an earlier one if they are given."""
    names = ("input", "output", "control")
    addresses = {
        name: "tcp://127.0.0.1:*" if endpoints is None else getattr(endpoints, name)
        for name in names
    }
    server = Server(parse_config({"server": addresses, "session": [SESSION]}))
    server.start()
    return server


class Actor:
    """Sends a clip over and over; `sent` has the frame of the clip by sequence number."""

    def __init__(self, address: str) -> None:
        self.clip = load_clip("bat-swing", RATE_HZ)
        self._stop = threading.Event()
        self._address = address
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        skeleton = message_from_skeleton(self.clip.skeleton)
        with Performer("alice", skeleton, self._address) as performer:
            performer.wait_ready(60.0)
            for beat in Metronome(RATE_HZ).beats():
                if self._stop.is_set():
                    return
                frame = beat % self.clip.frame_count
                performer.send(
                    self.clip.roots[frame],
                    self.clip.rotations_xyzw[frame],
                    capture_ns=int(beat * 1e9 / RATE_HZ),
                )

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


@contextmanager
def monitor(endpoints: Endpoints, takes: Path) -> Iterator[str]:
    """The monitor in its own process; where its page is."""
    command = [
        sys.executable, "-m", "understudy", "monitor", "--page-port", "0",
        "--from", endpoints.output, "--control", endpoints.control, "--takes", str(takes),
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("monitor: open http://127.0.0.1:"), line
            yield line.split()[-1]
        finally:
            process.terminate()
            assert process.wait(20.0) == 0


def open_page(context: BrowserContext, url: str) -> tuple[Page, list[str]]:
    """The page, and every address it ever asks for."""
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.goto(f"{url}/?fixedDpr=1")
    return page, asked


def status(page: Page) -> str:
    card = page.get_by_test_id("status")
    return card.inner_text() if card.count() else ""


def bones(page: Page) -> dict[str, list[float]]:
    """Places of every body's bones as the page has them."""
    found: dict[str, list[float]] = page.evaluate(
        """() => Object.fromEntries(Object.entries(__viserSceneTree.getState())
            .filter(([name]) => /^\\/stage\\/body\\d+\\/bones$/.test(name))
            .map(([name, node]) => {
                const bytes = node.message.props.batched_positions;
                const copy = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
                return [name, Array.from(new Float32Array(copy.slice().buffer))];
            }))"""
    )
    return found


def parameter(control: Control, name: str) -> float:
    return float(control.request("list")["sessions"][0]["params"][name])


def solver(control: Control) -> str:
    return str(control.request("list")["sessions"][0]["solver"])


def keep_picture(page: Page, name: str) -> None:
    """For people to look at, in the folder that UNDERSTUDY_SCREENSHOTS names."""
    folder = os.environ.get("UNDERSTUDY_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", timeout=120_000)


def assert_same_motion(
    path: Path,
    joints: tuple[str, ...],
    times_ns: list[int],
    roots: FloatArray,
    rotations_xyzw: FloatArray,
) -> None:
    """The file has these poses, each where its time says."""
    clip = read_bvh(path, unit_m=0.01, up="y").clip
    assert clip.rate_hz == pytest.approx(RATE_HZ)
    at = np.round((np.array(times_ns) - times_ns[0]) * 1e-9 * RATE_HZ).astype(np.int64)
    assert clip.frame_count == at[-1] + 1
    np.testing.assert_allclose(clip.roots[at], roots, atol=1e-5)
    order = [clip.skeleton.index(name) for name in joints]  # a BVH file has its own
    found = matrix(clip.rotations_xyzw[at][:, order])
    np.testing.assert_allclose(found, matrix(rotations_xyzw), atol=1e-5)


def test_the_page_shows_steers_records_and_waits(tmp_path: Path) -> None:
    with browsing() as context:
        server = open_server()
        endpoints = server.endpoints
        actor, witness = Actor(endpoints.input), Witness(endpoints.output)
        try:
            with monitor(endpoints, tmp_path / "takes") as url:
                page, asked = open_page(context, url)
                wait_until(page, lambda: "Live: one performer" in status(page), "the live state")
                check_motion(page)
                keep_picture(page, "early")
                check_steering(page, endpoints)
                check_recording(page, tmp_path / "takes", actor, witness)
                keep_picture(page, "later")
                server.stop()
                wait_until(page, lambda: "Waiting for the server" in status(page), "the wait")
                assert "understudy serve" in page.inner_text("body")
                keep_picture(page, "waiting")
                server = open_server(endpoints)
                wait_until(page, lambda: "Live: one performer" in status(page), "the return")
                check_motion(page)
                own = urlsplit(url).netloc
                foreign = [
                    address
                    for address in asked
                    if urlsplit(address).scheme not in ("blob", "data")
                    and urlsplit(address).netloc != own
                ]
                assert asked
                assert foreign == []
        finally:
            actor.close()
            witness.close()
            server.stop()


def check_motion(page: Page) -> None:
    """A performer and a character are drawn, and both move."""
    wait_until(page, lambda: len(bones(page)) == 2, "two bodies on the stage")
    before = bones(page)

    def moved() -> bool:
        now = bones(page)
        return now.keys() == before.keys() and all(now[name] != before[name] for name in now)

    wait_until(page, moved, "motion")
    drawn: Any = page.evaluate("__viserTestpoints.rendererInfo.render.frame")
    wait_until(
        page,
        lambda: bool(page.evaluate("__viserTestpoints.rendererInfo.render.frame") > drawn),
        "a drawn frame",
    )


def check_steering(page: Page, endpoints: Endpoints) -> None:
    """A slider changes the server's parameter; one button takes it back."""
    with Control(endpoints.control) as control:
        before = parameter(control, "k1")
        page.get_by_role("tab", name="Solver").click()
        row = page.locator("//*[normalize-space(text())='k1']/ancestor::*[.//*[@role='slider']][1]")
        slider = row.get_by_role("slider")
        slider.press("ArrowLeft")
        slider.press("ArrowLeft")
        wait_until(page, lambda: parameter(control, "k1") < before, "the slider's effect")
        assert parameter(control, "k1") == pytest.approx(
            float(slider.get_attribute("aria-valuenow") or 0)
        )
        page.get_by_role("button", name="Undo").click()
        wait_until(page, lambda: parameter(control, "k1") == before, "the undo")
        page.get_by_role("combobox", name="Solver").click()
        page.get_by_role("option", name="copy").click()
        wait_until(page, lambda: solver(control) == "copy", "the other solver")
        page.get_by_role("button", name="Undo").click()
        wait_until(page, lambda: solver(control) == "clik", "the first solver again")
        page.get_by_role("tab", name="Live").click()


def check_recording(page: Page, takes: Path, actor: Actor, witness: Witness) -> None:
    """What is written is what was streamed, of the performer and of the character."""
    first = len(witness.poses)
    page.get_by_role("button", name="Record").click()
    wait_until(page, lambda: len(witness.poses) > first + 45, "a second and a half of poses")
    page.get_by_role("button", name="Stop recording").click()
    wait_until(page, lambda: bool(list(takes.glob("take-*/take.json"))), "the files")
    folder = next(takes.glob("take-*"))
    take = json.loads((folder / "take.json").read_text(encoding="utf-8"))
    bodies = {body["kind"]: body for body in take["bodies"]}
    assert len(bodies["performer"]["seq"]) > 10
    assert len(bodies["character"]["seq"]) > 10
    frames = [seq % actor.clip.frame_count for seq in bodies["performer"]["seq"]]
    assert_same_motion(
        folder / bodies["performer"]["file"],
        actor.clip.skeleton.names,
        bodies["performer"]["times_ns"],
        actor.clip.roots[frames],
        actor.clip.rotations_xyzw[frames],
    )
    poses = [witness.poses[seq] for seq in bodies["character"]["seq"]]
    assert_same_motion(
        folder / bodies["character"]["file"],
        load_character("giant").names,
        bodies["character"]["times_ns"],
        np.array([pose.root for pose in poses], np.float64),
        np.array([pose.rotations_xyzw for pose in poses], np.float64),
    )
