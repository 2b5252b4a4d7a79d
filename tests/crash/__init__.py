"""Crashes on purpose: each writing command is stopped or refused at each call that changes a file.

``shim.c`` is loaded before the system's library and counts the calls below one folder that write, rename,
remove, make or sync something, from Python and from native code alike. At the n-th it kills the
process (SIGKILL), tells it to end (SIGTERM), or fails as a full or a read-only disk does. ``campaign``
goes through all n of all commands, and looks at what is left: ``make crash``.
"""
