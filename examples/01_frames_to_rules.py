"""From two DataFrames to rules: pandas in, pandas out.

A workshop with two presses. Sensors say every minute whether a press runs and whether a person stands at
it. Wanted: when is a person *tending* a press? Somebody has labelled the first hour; the rest is open.
"""

import pandas as pd

import splice

rows = []
for minute in range(300):
    for number, press in enumerate(("p1", "p2")):
        runs = (minute + 20 * number) % 60 < 30
        near = (minute + 20 * number) % 60 < 25
        rows.append((minute, "running" if runs else "idle", press, None))
        rows.append((minute, "near" if near else "away", "anna", press))
events = pd.DataFrame(rows, columns=["time", "event", "arg1", "arg2"])

labels = pd.DataFrame(
    [
        ("tending(anna,p1)", 0, 25, True),
        ("tending(anna,p1)", 25, 60, False),
        ("tending(anna,p2)", 0, 5, True),
        ("tending(anna,p2)", 5, 40, False),
        ("tending(anna,p2)", 40, 60, True),
    ],
    columns=["fluent", "start", "end", "label"],
)

model = splice.RuleLearner().fit(events, labels)
print(*model.rules_["words"], sep="\n")
# > tending(X0,X1) begins when near(X0,X1) happens
# > tending(X0,X1) ends when away(X0,X1) happens

found = model.predict(events)
print(type(found).__name__, *found.columns)
# > DataFrame sequence fluent start end
print(found[found.start < 60].to_string(index=False))
# > sequence           fluent  start  end
# >     main tending(anna,p1)      0   25
# >     main tending(anna,p2)      0    5
# >     main tending(anna,p2)     40   65
