"""understudy: a real-time motion-retargeting server."""

__version__ = "0.1.0"
