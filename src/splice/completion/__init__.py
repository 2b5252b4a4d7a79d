"""Supervision completion: from a few labels to a label, a confidence and a reason for every atom.

The road of a micro-batch (sections 3.1 to 3.4 of the paper)::

    partition   one example for each query atom                    Algorithm 1   partition.py
    lift        examples to patterns, each stored once             section 3.4   patterns.py
    cache       counts of labelled patterns, contradictions out    Algorithm 3   cache.py
    connect     similarity of patterns, nearest neighbours, links  section 3.2   neighbours.py
    solve       harmonic values, then labels                       Algorithm 2   solver.py

:class:`~splice.completion.completer.SupervisionCompleter` walks it; what it does at each fork is a
strategy of a :class:`~splice.completion.profile.Profile`: one class in one file, found by its name
(:mod:`~splice.completion.registry`).
"""
