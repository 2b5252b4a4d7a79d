"""Sensors in a home: one person, no pairs, timestamps with a zone.

Motion sensors and a stove, a reading every five minutes. Wanted: when is somebody *cooking*? One morning was
watched; the evenings are found by the rules. Times come out as they went in.
"""

import polars as pl

import splice

start = pl.datetime(2024, 3, 29, 6, time_zone="Europe/Athens")
steps = pl.DataFrame({"step": range(288 * 3)}).with_columns(
    time=start + pl.duration(minutes=5 * pl.col("step")), of_day=pl.col("step") % 288
)
kitchen = pl.col("of_day").is_between(10, 22) | pl.col("of_day").is_between(130, 170)
stove = pl.col("of_day").is_between(14, 18) | pl.col("of_day").is_between(145, 155)
events = pl.concat(
    [
        steps.select(
            "time",
            event=pl.when(kitchen).then(pl.lit("kitchen")).otherwise(pl.lit("elsewhere")),
            arg1=pl.lit("home"),
        ),
        steps.filter(stove).select("time", event=pl.lit("stove"), arg1=pl.lit("home")),
    ]
).sort("time")

watched = steps.filter(pl.col("step") < 60)
labels = watched.select("time", fluent=pl.lit("cooking(home)"), label=stove)

model = splice.RuleLearner(open_world=True).fit(events, labels)
for rule in model.rules_["words"]:
    print(rule)
# > cooking(X0) begins when stove(X0) happens
# > cooking(X0) ends when stove(X0) does not

for row in model.predict(events).head(3).iter_rows(named=True):
    print(row["start"].isoformat(), "to", row["end"].isoformat())
# > 2024-03-29T07:10:00+02:00 to 2024-03-29T07:35:00+02:00
# > 2024-03-29T18:05:00+02:00 to 2024-03-29T19:00:00+02:00
# > 2024-03-30T07:10:00+02:00 to 2024-03-30T07:35:00+02:00
