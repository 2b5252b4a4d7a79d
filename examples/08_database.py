"""From a database query: DuckDB's relations are frames, and the answer is a relation again."""

import duckdb

import splice

duckdb.sql("""
    create temp table readings as
    select range as ts, case when range % 24 < 9 then 'high' else 'low' end as level, 'tank' as name
    from range(480)
""")
events = duckdb.sql("select * from readings order by ts")
labels = duckdb.sql("""
    select ts, 'filling' as fluent, name, level = 'high' as label
    from readings where ts < 240 order by ts
""")

# The columns keep their names: say which is which.
model = splice.RuleLearner(time="ts", event="level", args=["name"]).fit(events, labels)
found = model.predict(events)
print(type(found).__name__)
# > DuckDBPyRelation
print(duckdb.sql('select count(*), min("end" - start) from found').fetchall())
# > [(20, 9)]
