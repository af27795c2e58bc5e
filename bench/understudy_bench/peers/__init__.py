"""Other solvers on our task: each in an environment and a process of its own."""
