"""Write the golden vectors into a folder: `python -m understudy_protocol.vectors FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from understudy_protocol.vectors.writing import write_vectors


def main() -> int:
    """Write the vectors; 2 and one line of help where no folder was named."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: python -m understudy_protocol.vectors FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    count = write_vectors(folder)
    print(f"wrote {count} vectors into {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
