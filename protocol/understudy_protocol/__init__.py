"""The understudy wire protocol."""
