"""The monitor's colours, dark and light: sRGB as one writes them, linear as meshes take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a stage and of everyone on it."""

    dark: bool
    sky: tuple[Rgb, Rgb]  # above, at the horizon
    floor: Rgb
    cell: Rgb
    section: Rgb
    ruler: Rgb
    performer: Rgb
    characters: tuple[Rgb, ...]
    contact: Rgb
    goal: Rgb


DARK: Final = Theme(
    dark=True,
    sky=((12, 13, 15), (30, 34, 39)),
    floor=(58, 64, 71),
    cell=(70, 77, 85),
    section=(120, 130, 140),
    ruler=(200, 208, 216),
    performer=(214, 222, 232),
    characters=(
        (38, 198, 178),  # teal
        (255, 159, 67),  # amber
        (124, 140, 255),  # indigo
        (240, 98, 146),  # rose
        (140, 200, 80),  # leaf
        (186, 126, 255),  # violet
    ),
    contact=(205, 255, 92),
    goal=(255, 77, 141),
)
LIGHT: Final = Theme(
    dark=False,
    sky=((226, 232, 239), (249, 250, 251)),
    floor=(246, 247, 249),
    cell=(226, 230, 235),
    section=(190, 197, 205),
    ruler=(96, 106, 118),
    performer=(122, 134, 150),
    characters=(
        (0, 150, 136),  # teal
        (239, 125, 23),  # amber
        (84, 101, 230),  # indigo
        (216, 60, 116),  # rose
        (96, 156, 40),  # leaf
        (142, 82, 220),  # violet
    ),
    contact=(150, 214, 0),
    goal=(224, 24, 104),
)

GOOD: Final = "#3ddc97"
WARN: Final = "#ffb03a"
BAD: Final = "#ff5c5c"
IDLE: Final = "#8a94a3"
IDLE_BUTTON: Final[Rgb] = (73, 80, 92)


def linear(colour: Rgb) -> NDArray[np.uint8]:
    """A colour for batched meshes, which are drawn as if their numbers were linear light."""
    share = np.asarray(colour, np.float64) / 255.0
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.round(255.0 * light).astype(np.uint8)


def css(colour: Rgb) -> str:
    """The same colour in a style sheet."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def darker(colour: Rgb, factor: float) -> Rgb:
    """The colour at a share of its brightness."""
    r, g, b = (round(channel * factor) for channel in colour)
    return r, g, b
