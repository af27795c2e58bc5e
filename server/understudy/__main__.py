"""`python -m understudy` is the `understudy` command."""

from __future__ import annotations

import sys

from understudy.cli import main

sys.exit(main())
