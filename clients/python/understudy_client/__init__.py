"""Clients of the understudy server."""
