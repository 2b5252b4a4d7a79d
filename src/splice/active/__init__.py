"""Which labels to ask for next, so that few of them say much (active learning).

A :class:`~splice.active.session.LabelSession` holds a stream whose labels grow; it cuts the stream into
*stretches*, each what a person can judge in one look, and a *query strategy* picks those to ask about. A
strategy is one class, known by its name in ``STRATEGIES`` (:mod:`.strategy`).
"""
