"""The commands of `understudy`, a module each; `understudy.cli` finds them by name.

A command module has `EXAMPLE` (shown by `--help`), `add_arguments(parser)` and
`run(arguments) -> exit code`.
"""
