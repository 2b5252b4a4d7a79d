"""Live: a process that sits on a stream, recognises and learns while the events arrive.

A *feed* gives rows in order, each with its place; a *sink* takes rows in order, each with its
number (:mod:`splice.live.feeds`). Between them stands :class:`splice.live.engine.LiveEngine`, a machine
of plain state: rows in, rows out. :class:`splice.live.process.Process` moves rows between the three
and writes checkpoints. A checkpoint holds the places of all feeds, the state, and the rows that are
not yet known to be in their sinks, in one file that appears whole or not at all. So a process that
is killed at any moment reads again what its last checkpoint had not seen, and sends again what no
sink has: every row counts once, without transactions, acknowledgements or consumer groups.
"""
