"""Golden vectors: sample messages, valid and invalid, with their content or refusal as JSON.

`python -m understudy_protocol.vectors FOLDER` writes them.
"""

from __future__ import annotations

from understudy_protocol.vectors.invalid import INVALID, InvalidVector
from understudy_protocol.vectors.reading import Read, read
from understudy_protocol.vectors.valid import VALID, ValidVector
from understudy_protocol.vectors.writing import write_vectors

__all__ = ["INVALID", "VALID", "InvalidVector", "Read", "ValidVector", "read", "write_vectors"]
