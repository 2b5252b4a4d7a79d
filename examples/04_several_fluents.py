"""Several fluents at once: labels of each stand in one table, and each gets its rules and its score."""

import polars as pl

import splice

rows, truth = [], []
for minute in range(400):
    moving, wet = minute % 40 < 15, minute % 50 < 20
    rows.append((minute, "wheels" if moving else "still", "car"))
    rows.append((minute, "drops" if wet else "dry", "car"))
    truth.append((minute, "driving", "car", moving))
    truth.append((minute, "raining", "car", wet))
events = pl.DataFrame(rows, schema=["time", "event", "arg1"], orient="row")
labels = pl.DataFrame(truth, schema=["time", "fluent", "arg1", "label"], orient="row")

# A fluent's arguments may stand in columns of their own, as those of events do.
model = splice.RuleLearner().fit(events, labels.filter(pl.col("time") < 200))
for name, scores in model.scores(events, labels).fluents.items():
    print(name, scores.f1 > 0.9)
# > driving True
# > raining True

print(sorted(set(model.predict(events)["fluent"])))
# > ['driving(car)', 'raining(car)']
