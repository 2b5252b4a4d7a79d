"""Drift: the world changes, and rules and labels age.

Two signals are watched, batch by batch: how often the rules in use contradict the labels that were
given (:class:`~splice.live.drift.monitor.DriftMonitor`), and how unlike the patterns of a batch are to those of
late. The test of Page and Hinkley (river) says whether the mean of a
signal has risen, and since when. What follows is a
policy, one class each in :mod:`splice.live.drift.policies`.
"""
