"""The monitor's colours: sRGB as a designer writes them, linear as the meshes take them."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Rgb = tuple[int, int, int]

PERFORMER: Final[Rgb] = (214, 222, 232)
CHARACTERS: Final[tuple[Rgb, ...]] = (
    (38, 198, 178),  # teal
    (255, 159, 67),  # amber
    (124, 140, 255),  # indigo
    (240, 98, 146),  # rose
    (140, 200, 80),  # leaf
    (186, 126, 255),  # violet
)
CONTACT: Final[Rgb] = (205, 255, 92)
GOAL: Final[Rgb] = (255, 77, 141)

GOOD: Final = "#3ddc97"
WARN: Final = "#ffb03a"
BAD: Final = "#ff5c5c"
IDLE: Final = "#8a94a3"


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
