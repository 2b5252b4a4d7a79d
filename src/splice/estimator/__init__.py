"""The Python door: DataFrames in, rules and intervals out.

>>> import polars as pl
>>> hours = range(200)
>>> events = pl.DataFrame({
...     "time": hours, "event": ["warm" if h % 20 < 8 else "cold" for h in hours], "arg1": "room",
... })
>>> labels = pl.DataFrame({
...     "fluent": "heated(room)", "time": hours, "label": [h % 20 < 8 for h in hours],
... })
>>> model = RuleLearner().fit(events, labels[:100])
>>> model.predict(events).columns
['sequence', 'fluent', 'start', 'end']

A :class:`RuleLearner` adds nothing to what is learned: it calls :func:`splice.learn`,
:func:`splice.recognise` and the others as the command does, with frames for files.
"""

from splice.estimator.learner import RuleLearner

__all__ = ["RuleLearner"]
