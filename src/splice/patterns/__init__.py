"""The one idea: millions of examples, a handful of patterns.

A micro-batch is partitioned into examples (:mod:`.partition`), as far as the modes let see
(:mod:`.visibility`); the constants of an example are lifted (:mod:`.lifting`), and what is left, its
*pattern*, gets a number. Everything after this room, completion and learners alike, works on these
numbers: patterns as columns, the transitions of labels from one time-point to the
next (:mod:`.transitions`), numbers as conditions (:mod:`.numeric`). Batches that are there already are
read together (:mod:`.reading`).
"""
