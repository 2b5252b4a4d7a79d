"""A fuzzer: everything that reads is given damaged input, and may do three things.

It succeeds, it raises a :class:`splice.errors.SpliceError` that says what is wrong, or it names a limit.
Anything else (another exception, more time or memory than allowed, the end of the process) is a
finding, and its input is kept in ``corpus/`` and tried by every run of the tests.

``mutations`` damages bytes and values, ``targets`` has everything that reads, ``campaign`` counts what
comes of it, in one process or under a watchdog: ``make fuzz``.
"""
