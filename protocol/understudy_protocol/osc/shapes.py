"""A shortcut for bundles: a sender's next frame is laid out like its last.

Everything in such a bundle is the same bytes again, but for the numbers of its bones and the few
other messages. Once a bundle has been taken apart step by step, one `struct` call takes apart the
next one of its length, and one comparison of tuples makes sure that it is of the same shape.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from understudy_protocol.osc.packet import BUNDLE_START


class BundleShape:
    """The fixed bytes of a flat bundle, and where the variable ones are.

    Elements with a known start (`heads`) vary behind it; of the others size and address are fixed.
    """

    def __init__(self, bundle: bytes, elements: list[bytes], heads: Mapping[bytes, int], tail: int):
        """`elements` of `bundle` in order; those in `heads` vary in their last `tail` bytes."""
        sizes: list[str] = []
        self.keys: Final[list[int | None]] = []
        """For each element its number in `heads`, or None."""
        self._addresses: Final[list[tuple[int, bytes]]] = []
        gap = len(BUNDLE_START)
        for place, element in enumerate(elements):
            key = heads.get(element[:-tail])
            if key is None:
                self._addresses.append((place, element[: element.find(0) + 1]))
            varying = len(element) if key is None else tail
            sizes.append(f"{gap + 4 + len(element) - varying}s{varying}s")
            self.keys.append(key)
            gap = 0
        self._layout: Final = struct.Struct(">" + "".join(sizes))
        self._fixed: Final = self._layout.unpack(bundle)[::2]
        self._start: Final = self._fixed[0]

    def match(self, bundle: bytes) -> tuple[bytes, ...] | None:
        """The variable bytes of each element, or None if the bundle is of another shape."""
        if not bundle.startswith(self._start):
            return None
        parts = self._layout.unpack(bundle)
        if parts[::2] != self._fixed:
            return None
        varying = parts[1::2]
        for place, address in self._addresses:
            if not varying[place].startswith(address):
                return None
        return varying
