"""The experiments of the papers the solvers come from, with the published figures beside ours."""
