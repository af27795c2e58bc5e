"""`understudy inspect --picture`: a page with both bodies on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy.cli import main


def test_a_picture_has_both_bodies_with_left_and_right_limbs(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image", reason="pictures need matplotlib")
    path = tmp_path / "pair.png"
    assert main(["inspect", "wave", "--to", "giant", "--picture", str(path)]) == 0
    pixels = image.imread(path)[..., :3]
    for colour in ("#1f77b4", "#d1495b"):
        wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        columns = np.flatnonzero((np.abs(pixels - wanted).max(axis=-1) < 0.02).any(axis=0))
        # Ten bodies side by side, in five panels: each has limbs of both colours.
        parts = np.unique(columns * 10 // pixels.shape[1])
        assert len(parts) == 10, colour


def test_every_character_has_a_row_of_the_page(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image", reason="pictures need matplotlib")
    path = tmp_path / "page.png"
    assert main(["inspect", "wave", "--to", "giant", "child", "--picture", str(path)]) == 0
    left_limbs = np.array([0x1F, 0x77, 0xB4]) / 255
    blue = np.abs(image.imread(path)[..., :3] - left_limbs).max(axis=-1) < 0.02
    upper, lower = np.array_split(blue, 2)
    assert upper.any()
    assert lower.any()
    assert not blue[len(blue) // 2 - 5 : len(blue) // 2 + 5].any()


def test_half_of_what_a_picture_needs_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "wave", "--to", "giant"]) == 2
    assert "needs both --to CHARACTER and --picture" in capsys.readouterr().err
