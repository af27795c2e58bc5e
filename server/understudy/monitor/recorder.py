"""Recording: what every performer and character did, from start to stop, as BVH files."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from understudy.characters import write_bvh
from understudy.errors import UnderstudyError
from understudy.monitor.feed import BodyKey
from understudy.takes import clip_from_poses, moment_ns
from understudy_protocol import FrameMessage, PoseMessage, SkeletonMessage

# A recording that was forgotten ends by itself before it fills the memory.
MAX_SECONDS: Final = 1200.0


@dataclass(slots=True)
class _Reel:
    """One body's poses while it keeps its skeleton."""

    message: SkeletonMessage
    poses: list[FrameMessage | PoseMessage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Take:
    """What was written: the folder, its BVH files, and a line for every body left out."""

    folder: Path
    files: tuple[Path, ...]
    left_out: tuple[str, ...]


class Recorder:
    """Keeps poses between `start` and `stop`; may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._reels: dict[BodyKey, _Reel] = {}
        self._started_s: float | None = None
        self._started_at = datetime.now().astimezone()

    @property
    def seconds(self) -> float | None:
        """How long it has been recording; None when it is not."""
        started = self._started_s
        return None if started is None else time.monotonic() - started

    def start(self) -> None:
        """Begin a take; one that runs goes on."""
        with self._lock:
            if self._started_s is None:
                self._reels = {}
                self._started_at = datetime.now().astimezone()
                self._started_s = time.monotonic()

    def add(self, key: BodyKey, message: SkeletonMessage, pose: FrameMessage | PoseMessage) -> None:
        """Keep a pose if a take is running; a body that changes in mid-take ends there."""
        if self._started_s is None or time.monotonic() - self._started_s > MAX_SECONDS:
            return
        with self._lock:
            reel = self._reels.setdefault(key, _Reel(message))
            if reel.message.joints == message.joints:
                reel.poses.append(pose)

    def stop(self) -> Take | None:
        """End the take and write it; None if none was running."""
        with self._lock:
            if self._started_s is None:
                return None
            self._started_s = None
            reels, self._reels = self._reels, {}
        return _write(self._folder, self._started_at, reels)


def _write(folder: Path, started_at: datetime, reels: dict[BodyKey, _Reel]) -> Take:
    """A folder of its own: a BVH file for each body, and the times of its poses in `take.json`."""
    folder = _free(folder / started_at.strftime("take-%Y%m%d-%H%M%S"))
    files: list[Path] = []
    left_out: list[str] = []
    bodies: list[dict[str, Any]] = []
    for key, reel in sorted(reels.items(), key=lambda item: (not item[0].of_performer, item[0])):
        kind = "performer" if key.of_performer else "character"
        path = folder / f"{kind}-{_file_name(key.name)}.bvh"
        try:
            clip = clip_from_poses(key.name, reel.message, reel.poses)
            folder.mkdir(parents=True, exist_ok=True)
            write_bvh(path, clip)
        except (UnderstudyError, OSError) as error:
            left_out.append(f"{kind} {key.name}: {error}")
            continue
        files.append(path)
        bodies.append(
            {
                "kind": kind,
                "name": key.name,
                "file": path.name,
                "rate_hz": clip.rate_hz,
                "frames": clip.frame_count,
                "lost": _lost(reel.poses),
                "seq": [pose.seq for pose in reel.poses],
                "times_ns": [moment_ns(pose) for pose in reel.poses],
            }
        )
    if files:
        take = {"started": started_at.isoformat(timespec="milliseconds"), "bodies": bodies}
        (folder / "take.json").write_text(json.dumps(take) + "\n", encoding="utf-8")
    return Take(folder, tuple(files), tuple(left_out))


def _lost(poses: Sequence[FrameMessage | PoseMessage]) -> int:
    """How many numbers are missing between the first pose and the last."""
    return max(0, poses[-1].seq - poses[0].seq + 1 - len(poses)) if poses else 0


def _free(folder: Path) -> Path:
    """The folder, or one with a number behind it if that is there already."""
    number = 2
    wanted = folder
    while wanted.exists():
        wanted = folder.with_name(f"{folder.name}-{number}")
        number += 1
    return wanted


def _file_name(name: str) -> str:
    """The name with only what every file system takes."""
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "_"
