"""Benchmarks: frame-rate budgets, latency and solver quality."""
