"""Numbers and thresholds: measured values become conditions such as N1>=60.

A pump reports its temperature. Whoever labelled called it *hot* from sixty degrees on; nobody says so to the
learner, which finds the threshold among the values that it has seen. That the second argument of ``heat`` is a
measured number, and no name, is said by a mode: ``n-``.
"""

import math

import polars as pl

import splice
from splice.io.lomrf.modes import parse_modes

times = range(4000)
degrees = [round(50 + 25 * math.sin(minute / 9), 1) for minute in times]
events = pl.DataFrame({"time": times, "event": "heat", "arg1": "pump", "arg2": degrees})
labels = pl.DataFrame(
    {"time": times, "fluent": "hot(pump)", "label": [value >= 60 for value in degrees]}
)

domain = splice.Domain(modes=parse_modes("modeF(*, heat(+, n-))"))
model = splice.RuleLearner(domain=domain).fit(events, labels[:2000])
for rule in model.rules_["text"]:
    print(rule.partition("(")[0], "compares" if "N1" in rule else "")
# > initiatedAt compares
# > terminatedAt compares
print(model.score(events, labels) > 0.8)
# > True
