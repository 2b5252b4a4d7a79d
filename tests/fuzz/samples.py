"""What is whole: a small input of every kind, before it is damaged."""

from __future__ import annotations

EVENTS = "sequence,time,event,arg1,arg2\n" + "".join(
    f"{s},{t},{'walk' if t % 3 else 'press'},p{t % 4},{t}.5\n" for s in "ab" for t in range(12)
)
LABELS = "sequence,fluent,time,label\n" + "".join(
    f'{s},"lit(p{p},p{q})",{t},{("false", "true", "")[(t + p) % 3]}\n'
    for s in "ab"
    for t in range(12)
    for p, q in ((0, 1), (1, 0), (2, 3))
)
SPANS = "sequence,fluent,start,end,label\na,lit(p0),1,5,true\na,lit(p1),2,9,false\nb,watched,0,9,\n"
CALENDAR = "time,event,arg1\n2024-01-01T00:00:00Z,a,b\n2024-01-01T00:00:01Z,a,c\n"
DB = "Press_A = press(A)\nHappens(Press_A, 1)\nHappens(Walk, 2)\nClose(A, B, 34, 2)\nHoldsAt(Lit, 1)\n!HoldsAt(Lit, 2)\n?HoldsAt(Lit, 3)\n"
RTEC = "press|1|1|a\nwalk|2|2|a|b\nspeed|3|3|a|1.5\ngap|4|4|9|true|a\n"
MLN = """time = {1, ..., 9}
event press(id)
fluent lit(id,id)
HoldsAt(fluent,time)
Happens(event,time)
Next(time,time)
1.5 Happens(press(x),t) ^ Next(t,t2) => HoldsAt(lit(x,x),t2)
!HoldsAt(lit(x,y),t) v Happens(press(x),t).
-0.5 HoldsAt(lit(x,x),t) <=> Happens(press(x),t)
"""
MODES = "modeP(2, Happens(-,+))\nmodeF(1, press(.))\nmodeP(1, Close(.,.,#+,+))\n"
OLED_MODES = "modeh(initiatedAt(lit(+id,+id),+time))\nmodeb(happensAt(press(+id),+time))\nexamplePattern(holdsAt(lit(+id,+id),+time))\n"
RULES = """% a comment
initiatedAt(lit(X,Y),T) :- happensAt(press(X),T), happensAt(walk(Y,_),T), not holdsAt(low(Y),T), X != Y.
terminatedAt(lit(X,Y),T) :- happensAt(walk(X,V),T), V >= 2.5.
holdsFor(up(X),I) :- holdsFor(lit(X,_),J), union_all([J],I).
initiatedAt(low(X),T) :- happensAt(walk(X,V),T), V < 3.
"""
WEIGHTED = """1.25 :: initiatedAt(lit(X,Y),T) :- happensAt(press(X),T), happensAt(walk(Y,V),T).
0.5 :: terminatedAt(lit(X,Y),T) :- happensAt(walk(X,V),T).
"""
WEIGHTED_MLN = """Happens(event,time)
HoldsAt(fluent,time)
InitiatedAt(fluent,time)
TerminatedAt(fluent,time)
Next(time,time)
event press(id)
fluent lit(id,id)
1.5 Happens(press(x),t) => InitiatedAt(lit(x,x),t)
0.5 Happens(press(x),t) => TerminatedAt(lit(x,x),t)
Next(t1,t0) ^ InitiatedAt(f,t0) => HoldsAt(f,t1).
1 Next(t1,t0) ^ HoldsAt(f,t0) ^ !TerminatedAt(f,t0) => HoldsAt(f,t1)
"""
DOMAIN = '''name = "lamp"
modes = """
modeP(2, Happens(-,+))
"""
literals = ["initiatedAt(lit(X,Y),T)", "happensAt(press(X),T)"]
[target]
query = "HoldsAt/2"
fluents = ["lit"]
exclusive = false
[types]
time = { first = 1, last = 90 }
id = ["a", "b"]
[predicates]
Happens = ["event", "time"]
HoldsAt = ["fluent", "time"]
Close = { name = "close", args = ["id", "id", "number", "time"] }
[functions]
press = { args = ["id"], returns = "event" }
lit = { args = ["id", "id"], returns = "fluent" }
[time]
unit = "s"
every = "1min"
[states]
on = "*_on"
off = "*_off"
[[tables]]
file = "events.csv*"
sequence = "sequence"
atom = "Happens({event}({id}),{frame})"
where = { kind = ["a", "b"] }
'''
EXPERIMENT = """kind = "completion"
[grid]
datasets = ["plaza", { name = "plaza", sequences = 2, people = 3, frames = 100, seed = 1 }]
masks = [{ scope = "atoms", unit = "pair" }, { scope = "batches" }]
levels = [5, 10]
samples = 2
batch_sizes = [25, 50]
[[methods]]
name = "paper {connector}"
profile = "paper"
connector = ["knn:2", "enn:0.5"]
[[methods]]
name = "default"
"""
CVML = """<?xml version="1.0"?><dataset name="x"><frame number="0"><objectlist><object id="0"><orientation>90</orientation>
<box xc="10" yc="10" w="4" h="4"/><appearance>visible</appearance><hypothesislist><hypothesis id="1" prev="1.0" evaluation="1.0">
<movement evaluation="1.0">walking</movement><role evaluation="1.0">walker</role><context evaluation="1.0">walking</context>
<situation evaluation="1.0">moving</situation></hypothesis></hypothesislist></object></objectlist><grouplist></grouplist></frame></dataset>
"""
AIS = "sourcemmsi,speedoverground,courseoverground,lon,lat,t\n1,5.1,90,-4.5,48.1,10\n2,0.1,180.5,-4.4,48.2,11\n1,5.2,91,-4.49,48.1,20\n"
RESULTS = "dataset,scope,unit,batch_size,method,level,n,f1,f1_sd,published\nplaza,atoms,pair,25,a,5,20,.8,.1,.7\nplaza,atoms,pair,25,a,10,20,.85,.1,\n"
INTERVALS = "sequence,fluent,start,end,probability\na,lit(p0),1,5,0.5\na,lit(p1),2,9,1\n"
