"""The live monitor: a web page that shows performers and characters while a session runs."""
