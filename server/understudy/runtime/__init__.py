"""The running server: it alone knows every room.

`understudy.runtime.launch.run` serves until it is told to stop; `understudy.runtime.server.Server`
is the same inside a program. Importing this package loads no compiled code.
"""
