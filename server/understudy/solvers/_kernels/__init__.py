"""Compiled solvers: one call a frame, one shared core."""
