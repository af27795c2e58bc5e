"""Bundles prepared once, of which every frame overwrites only the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from understudy_protocol.osc.packet import BUNDLE_START, sized


@dataclass(frozen=True, slots=True)
class Blank:
    """A message with `count` float32 arguments to fill in, the first at byte `at`."""

    message: bytes
    at: int
    count: int


class BundleTemplate:
    """Messages laid out in bundles of at most `limit` bytes each, in order.

    All of OSC is in units of four bytes, so the whole is one array of float32 words and a frame
    is one scatter of its numbers.
    """

    def __init__(self, blanks: Sequence[Blank], limit: int) -> None:
        """A message too long for any bundle of `limit` bytes gets a bundle of its own."""
        buffer = bytearray()
        starts: list[int] = []
        fields: list[int] = []
        positions: list[int] = []
        for blank in blanks:
            element = sized(blank.message)
            if not starts or len(buffer) - starts[-1] + len(element) > limit:
                starts.append(len(buffer))
                buffer += BUNDLE_START
            message_at = len(buffer) + 4
            positions.append(message_at)
            first = (message_at + blank.at) // 4
            fields.extend(range(first, first + blank.count))
            buffer += element
        self.buffer: Final = buffer
        """The bytes of all bundles, one after the other."""
        self.message_at: Final = tuple(positions)
        """Where in `buffer` each message starts."""
        self._words: Final = np.frombuffer(buffer, ">f4")
        self._view: Final = memoryview(buffer)
        self._fields: Final = np.array(fields, np.intp)
        self._spans: Final = tuple(
            slice(start, end) for start, end in zip(starts, [*starts[1:], len(buffer)], strict=True)
        )

    def fill(self, numbers: NDArray[np.float64]) -> list[bytes]:
        """The bundles with `numbers` (all counts together,) in their blanks."""
        self._words[self._fields] = numbers
        return [self._view[span].tobytes() for span in self._spans]
