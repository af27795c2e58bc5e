"""The benches, one module each: `add_arguments` and `run`."""
