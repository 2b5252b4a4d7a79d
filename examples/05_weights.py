"""Weighted rules and probabilities: where rules are sometimes wrong, weights say how much they count.

The door sensor misses one visit in five. With weights the most probable state is found, and each interval has a
probability.
"""

import polars as pl

import splice

rows, truth = [], []
for minute in range(600):
    visit = minute % 30 < 12
    seen = visit and (minute // 30) % 5 != 0
    rows.append((minute, "door" if seen else "closed", "flat"))
    rows.append((minute, "voices" if visit and minute % 3 else "silence", "flat"))
    truth.append((minute, "visit(flat)", visit))
events = pl.DataFrame(rows, schema=["time", "event", "arg1"], orient="row")
labels = pl.DataFrame(truth, schema=["time", "fluent", "label"], orient="row")

model = splice.RuleLearner(splice.Oled(weights=splice.AdaGrad())).fit(events, labels)
print("weight" in model.rules_.columns)
# > True

found = model.predict_proba(events)
print(found.columns[-1], found["probability"].is_between(0.5, 1).all())
# > probability True
