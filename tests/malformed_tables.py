"""Tables, RTEC streams and domains that are wrong: where the error is and what it says."""

from __future__ import annotations

import gzip

from malformed import Malformed

_EVENTS = "time,event,arg1,arg2\n"
_LABELS = "fluent,start,end,label\n"
_POINTS = "fluent,time,label\n"
_GOOD = "1,walking,A,\n2,walking,B,\n"

CSV_EVENTS = [
    Malformed("empty file", "", "1:1", "the file is empty"),
    Malformed("blank lines", "\n\r\n\n", "1:1", "the file is empty"),
    Malformed("no event column", "time,evnt,arg1\n1,a,b\n", "1:1", "'event' is missing"),
    Malformed("no time column", "tme,event,arg1\n1,a,b\n", "1:1", "'time' is missing"),
    Malformed("no header", "1,walking,A\n2,walking,B\n", "1:1", "'time' is missing"),
    Malformed("pipes", "time|event|arg1\n1|a|b\n", "1:1", "'time' is missing"),
    Malformed("column twice", "time,event,time\n1,a,2\n", "1:12", "'time' appears twice"),
    Malformed("missing argument column", "time,event,arg2\n1,a,b\n", "1:1", "column is missing"),
    Malformed("short row", _EVENTS + _GOOD + "3,walking,C\n", "4:12", "3 fields, the header 4"),
    Malformed("long row", _EVENTS + "1,walking,A,B,C\n", "2:15", "5 fields, the header 4"),
    Malformed("cut off", _EVENTS + _GOOD + "3,wal", "4:6", "2 fields, the header 4"),
    Malformed("decimal time", _EVENTS + "1.5,walking,A,\n", "2:1", "non-integer time '1.5'"),
    Malformed("word as time", _EVENTS + _GOOD + "soon,walking,A,\n", "4:1", "time 'soon'"),
    Malformed("timestamp", _EVENTS + _GOOD + "2020-01-01,walking,A,\n", "4:1", "no unit of time"),
    Malformed("huge time", _EVENTS + "9" * 20 + ",walking,A,\n", "2:1", "64 bits"),
    Malformed("lowest time", _EVENTS + f"{-(2**63)},walking,A,\n", "2:1", "64 bits"),
    Malformed("empty event", _EVENTS + "1,,A,\n", "2:3", "the event is empty"),
    Malformed("gap", _EVENTS + "1,walking,,B\n", "2:11", "arg1 is empty and arg2 is not"),
    Malformed("arity", _EVENTS + _GOOD + "3,walking,A,B\n", "4:3", "2 arguments here and 1"),
    Malformed("arity of none", _EVENTS + "1,walking,,\n2,walking,A,\n", "3:3", "and 0 elsewhere"),
    Malformed("half a function", _EVENTS + '1,walking,"f(A,,B)",\n', "2:11", "no ground term"),
    Malformed("arguments twice", _EVENTS + "1,walking(A),B,\n", "2:14", "arguments already"),
    Malformed("backwards", _EVENTS + "2,a,,\n1,a,,\n", "3:1", "time goes backwards: 1 after 2"),
    Malformed("open quote", _EVENTS + '1,"walking,A,\n2,a,b,\n', "2:3", "quote is never closed"),
    Malformed("text after quote", _EVENTS + '1,"a"b,c,\n', "2:3", "after a closing quote"),
    Malformed("not UTF-8", (_EVENTS + "1,a").encode() + b"\xff,,\n", "2:3", "invalid UTF-8"),
    Malformed("NUL", _EVENTS + "1,a\0b,,\n", "2:3", "NUL"),
    Malformed("carriage return", _EVENTS + "1,a\rb,,\n", "2:1", "carriage return"),
    Malformed("only carriage returns", "time,event\r1,a\r2,b\r", "1:1", "carriage return"),
    Malformed("binary junk", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "1:1", "not text"),
    Malformed("quoted newline", _EVENTS + '1,a,"x\ny",\nz,a,b,\n', "4:1", "non-integer time 'z'"),
    Malformed("label", "time,event,label\n1,a,maybe\n", "2:5", "'maybe' is no label"),
    Malformed("probability", "time,event,label\n1,a,0.8\n", "2:5", "'0.8' is no label"),
    Malformed("two labels", "time,event,label\n1,a,1\n1,a,0\n", "3:1", "contradictory labels"),
    Malformed("empty sequence", "sequence,time,event\ns,1,a\n,2,a\n", "3:1", "sequence is empty"),
    Malformed("returning", "sequence,time,event\ns,1,a\nt,1,a\ns,2,a\n", "4:1", "comes back"),
    Malformed("now timeless", _EVENTS + "1,adult,A,\n,adult,B,\n", "3:1", "the time is empty"),
]

CSV_LABELS = [
    Malformed("empty file", "", "1:1", "the file is empty"),
    Malformed("no fluent", "flunt,start,end,label\nm,1,2,true\n", "1:1", "'fluent' is missing"),
    Malformed("no end", "fluent,start,label\nm,1,true\n", "1:1", "'end' is missing"),
    Malformed("no time", "fluent,tim,label\nm,1,true\n", "1:1", "'time' is missing"),
    Malformed("bad fluent", _LABELS + '"meet(A,",1,2,true\n', "2:1", "no ground term"),
    Malformed("fluent with spaces", _LABELS + "meet A,1,2,true\n", "2:1", "no ground term"),
    Malformed("empty fluent", _LABELS + ",1,2,true\n", "2:1", "the fluent is empty"),
    Malformed("turned", _LABELS + "m(A),2,1,true\n", "2:8", "ends before it starts"),
    Malformed("empty interval", _LABELS + "m(A),2,2,true\n", "2:8", "ends before it starts"),
    Malformed("no start", _LABELS + "m(A),,2,true\n", "2:6", "the time is empty"),
    Malformed("open end", _LABELS + "m(A),1,,true\n", "2:8", "end of the interval is empty"),
    Malformed("bad end", _LABELS + "m(A),1,x,true\n", "2:8", "non-integer time 'x'"),
    Malformed("bad label", _LABELS + "m(A),1,2,perhaps\n", "2:10", "'perhaps' is no label"),
    Malformed(
        "overlap",
        _LABELS + "m(A),0,3,true\nm(A),1,2,false\n",
        "3:1",
        "contradictory labels: false here, true at",
    ),
    Malformed("points", _POINTS + "m(A),1,true\nm(A),1,false\n", "3:1", "contradictory labels"),
    Malformed("no time-point", _POINTS + "m(A),,true\n", "2:6", "the time is empty"),
    Malformed("arity", _POINTS + '"m(A)",1,true\n"m(A,B)",1,true\n', "3:1", "2 arguments here"),
    Malformed("ragged", _POINTS + "m(A),1\n", "2:7", "2 fields, the header 3"),
    Malformed("sequence", "sequence,fluent,time\ns,m(A),1\n", "1:1", "a column 'sequence'"),
    Malformed("deep", _POINTS + "f(" * 300 + "a" + ")" * 300 + ",1,true\n", "2:1", "levels deep"),
    Malformed("not UTF-8", _POINTS.encode() + b"m(\xff),1,true\n", "2:1", "invalid UTF-8"),
]

_LINE = '{"time": 1, "event": "walking", "arg1": "A"}\n'

NDJSON = [
    Malformed("empty file", "", "1:1", "the file is empty"),
    Malformed("no JSON", _LINE + "time,event\n", "2:1", "invalid JSON"),
    Malformed("cut off", _LINE + '{"time": 2, "event": "wal', "2:22", "invalid JSON"),
    Malformed("no comma", _LINE + '{"time": 2 "event": "a"}\n', "2:12", "invalid JSON"),
    Malformed("single quotes", _LINE + "{'time': 2}\n", "2:2", "invalid JSON"),
    Malformed("two objects", _LINE + '{"time": 2} {"time": 3}\n', "2:13", "invalid JSON"),
    Malformed("list", _LINE + '[2, "walking"]\n', "2:1", "not a JSON object"),
    Malformed("number", _LINE + "5\n", "2:1", "not a JSON object"),
    Malformed("null", _LINE + "null\n", "2:1", "not a JSON object"),
    Malformed("NaN", _LINE + '{"time": NaN, "event": "a"}\n', "2:1", "NaN is no JSON value"),
    Malformed(
        "nested", _LINE + '{"time": 2, "event": "a", "arg1": {"x": 1}}\n', "2:27", "'arg1' is nested"
    ),
    Malformed(
        "list of arguments", _LINE + '{"time": 2, "event": "a", "arg1": ["x"]}\n', "2:27", "nested"
    ),
    Malformed("key twice", _LINE + '{"time": 2, "time": 3, "event": }\n', "2:33", "invalid JSON"),
    Malformed("no event key", '{"time": 1, "evnt": "a"}\n', "1:1", "'event' is missing"),
    Malformed("no time key", '{"tme": 1, "event": "a"}\n', "1:1", "'time' is missing"),
    Malformed("decimal time", _LINE + '{"time": 2.5, "event": "a"}\n', "2:2", "time '2.5'"),
    Malformed("infinite", _LINE + '{"time": 1e400, "event": "a"}\n', "2:1", "too large"),
    Malformed("huge time", _LINE + '{"time": 99999999999999999999, "event": "a"}\n', "2:2", "64"),
    Malformed("true as time", _LINE + '{"time": true, "event": "a"}\n', "2:2", "time 'true'"),
    Malformed("empty event", _LINE + '{"time": 2, "event": ""}\n', "2:13", "the event is empty"),
    Malformed("null event", _LINE + '{"time": 2, "event": null}\n', "2:13", "the event is empty"),
    Malformed("gap", _LINE + '{"time": 2, "event": "a", "arg2": "B"}\n', "2:1", "arg1 is empty"),
    Malformed("arity", _LINE + '{"time": 2, "event": "walking"}\n', "2:13", "0 arguments here"),
    Malformed("not UTF-8", _LINE.encode() + b'{"event": "\xff"}\n', "2:12", "invalid UTF-8"),
    Malformed("NUL", _LINE + '{"time": 2, "event": "a\\u0000"}\n', "2:13", "NUL"),
    Malformed("backwards", _LINE + '{"time": 0, "event": "b"}\n', "2:2", "goes backwards"),
    Malformed("deep", _LINE + '{"time": ' + "[" * 50_000 + "\n", "2:1", "nested too deep"),
    Malformed(
        "late label", _LINE + "\n" * 70_000 + '{"time": 2, "event": "b", "label": 1}\n', "70002:27", "first time"
    ),
    Malformed("binary junk", b"\x00\x01\x02\x03\n", "1:1", "invalid JSON"),
]  # fmt: skip

_RTEC = "walking|1|1|A\n"

RTEC = [
    Malformed("empty file", "", "1:1", "the file is empty"),
    Malformed("commas", _RTEC + "walking,2,2,A\n", "2:14", "1 field, an event has at least 3"),
    Malformed("two fields", _RTEC + "walking|2\n", "2:10", "2 fields"),
    Malformed("cut off", _RTEC + "walking|", "2:9", "2 fields"),
    Malformed("decimal occurrence", _RTEC + "walking|2|2.5|A\n", "2:11", "time '2.5'"),
    Malformed("word as occurrence", _RTEC + "walking|2|now|A\n", "2:11", "time 'now'"),
    Malformed("no occurrence", _RTEC + "walking|2||A\n", "2:11", "the occurrence is empty"),
    Malformed("huge occurrence", _RTEC + f"walking|2|{'9' * 20}|A\n", "2:11", "64 bits"),
    Malformed("word as arrival", _RTEC + "walking|x|2|A\n", "2:9", "non-integer arrival 'x'"),
    Malformed("no arrival", _RTEC + "walking||2|A\n", "2:9", "the arrival is empty"),
    Malformed("no name", _RTEC + "|2|2|A\n", "2:1", "the name is empty"),
    Malformed("blank name", _RTEC + "  |2|2|A\n", "2:1", "the name is empty"),
    Malformed("gap", _RTEC + "near|2|2||B\n", "2:10", "arg1 is empty and arg2 is not"),
    Malformed("arity", _RTEC + "walking|2|2|A|B\n", "2:1", "2 arguments here and 1"),
    Malformed("arity of none", _RTEC + "walking|2|2\n", "2:1", "0 arguments here and 1"),
    Malformed("backwards", "a|5|5|A\na|4|4|A\n", "2:5", "time goes backwards: 4 after 5"),
    Malformed("turned fluent", "near|9|9|2|true|A\n", "1:10", "ends before it starts"),
    Malformed("empty fluent", "near|9|2|2|true|A\n", "1:10", "ends before it starts"),
    Malformed("bad start", "near|9|x|2|true|A\n", "1:8", "no interval of integers"),
    Malformed("bad term", _RTEC + "near|2|2|f(A,,B)\n", "2:10", "no ground term"),
    Malformed("not UTF-8", _RTEC.encode() + b"wal\xff|2|2|A\n", "2:4", "invalid UTF-8"),
    Malformed("NUL", _RTEC + "wal\0|2|2|A\n", "2:1", "NUL"),
    Malformed("binary junk", b"\x7fELF\x02\x01\x00\x00\n", "1:9", "an event has at least 3"),
    Malformed("header", "name|arrival|occurrence|arg\n" + _RTEC, "1:6", "non-integer arrival"),
]

_DOMAIN = '[predicates]\nHappens = ["event", "time"]\nHoldsAt = ["fluent", "time"]\n'
_TABLE = _DOMAIN + '[[tables]]\nfile = "a.csv"\n'

DOMAIN = [
    Malformed("empty file", "", "1:1", "the file is empty"),
    Malformed("no TOML", "predicates: Happens\n", "1:11", "not valid TOML"),
    Malformed("unclosed list", '[predicates]\nHappens = ["event"\n', "2:1", "not valid TOML"),
    Malformed("key twice", 'name = "a"\nname = "b"\n', "2:11", "not valid TOML"),
    Malformed("unknown key", 'nmae = "a"\n' + _DOMAIN, "1:1", "unknown key 'nmae'"),
    Malformed("unknown section", _DOMAIN + '[taget]\nquery = "HoldsAt/2"\n', "4:2", "key 'taget'"),
    Malformed("name", "name = 5\n" + _DOMAIN, "1:1", "'name' is no text"),
    Malformed("empty name", 'name = ""\n' + _DOMAIN, "1:1", "'name' is empty"),
    Malformed("closed", 'closed = "yes"\n' + _DOMAIN, "1:1", "neither true nor false"),
    Malformed("types of a predicate", _DOMAIN + 'Close = "id"\n', "4:1", "no list of texts"),
    Malformed("number as type", _DOMAIN + 'Close = ["id", 5]\n', "4:1", "no list of texts"),
    Malformed("same predicate", _DOMAIN + 'HappensAt = ["event", "time"]\n', "4:1", "mean the same"),
    Malformed("predicates", 'predicates = ["Happens"]\n', "1:1", "'predicates' is no table"),
    Malformed("function", _DOMAIN + '[functions]\nwalk = ["id"]\n', "5:1", "'walk' is no table"),
    Malformed("returns", _DOMAIN + '[functions]\nwalk = { args = ["id"] }\n', "5:1", "'returns'"),
    Malformed(
        "function key", _DOMAIN + '[functions]\nwalk = { arg = ["id"], returns = "event" }\n', "5:10", "key 'arg'"
    ),
    Malformed(
        "no arguments", _DOMAIN + '[functions]\nf = { args = [], returns = "e" }\n', "5:1", "no arguments"
    ),
    Malformed("range", _DOMAIN + "[types]\nt = { first = 5, last = 1 }\n", "5:1", "is empty"),
    Malformed("bad range", _DOMAIN + '[types]\nt = { first = "a", last = 1 }\n', "5:7", "no integer"),
    Malformed("query", _DOMAIN + '[target]\nquery = "HoldsAt"\n', "5:1", "'HoldsAt' is no predicate"),
    Malformed("unknown query", _DOMAIN + '[target]\nquery = "Holds/2"\n', "5:1", "predicate 'Holds/2'"),
    Malformed("unknown fluent", _DOMAIN + '[target]\nfluents = ["meat"]\n', "5:1", "fluent 'meat'"),
    Malformed("modes", 'modes = """\nmodeP(1, Happens(-,+)\n"""\n' + _DOMAIN, "2:22", "expected ')'"),
    Malformed("unknown mode", 'modes = "modeP(1, Hapens(-,+))"\n' + _DOMAIN, "1:1", "undeclared predicate"),
    Malformed("unit", _DOMAIN + '[time]\nunit = "sec"\n', "5:1", "unknown unit of time 'sec'"),
    Malformed("tables", 'tables = "a.csv"\n' + _DOMAIN, "1:1", "no list of tables"),
    Malformed("no atom", _TABLE, "4:1", "'atom' is missing"),
    Malformed("no file", _DOMAIN + '[[tables]]\natom = "Happens({e},{t})"\n', "4:1", "'file' is missing"),
    Malformed("table key", _TABLE + 'atm = "Happens({e},{t})"\n', "6:1", "unknown key 'atm'"),
    Malformed("unclosed atom", _TABLE + 'atom = "Happens({e},{t}"\n', "6:1", "expected ')'"),
    Malformed("unclosed column", _TABLE + 'atom = "Happens({e,{t})"\n', "6:1", "unexpected character"),
    Malformed("nameless column", _TABLE + 'atom = "Happens({},{t})"\n', "6:1", "without a name"),
    Malformed("unknown atom", _TABLE + 'atom = "Hapens({e},{t})"\n', "6:1", "predicate 'Hapens'"),
    Malformed("arity", _TABLE + 'atom = "Happens({e},{f},{t})"\n', "6:1", "3 arguments here"),
    Malformed("fixed time", _TABLE + 'atom = "Happens({e},5)"\n', "6:1", "no column in braces"),
    Malformed("no end", _TABLE + 'atom = "HoldsAt({f})"\nstart = "a"\n', "7:1", "without 'end'"),
    Malformed("no start", _TABLE + 'atom = "HoldsAt({f},{t})"\nend = "a"\n', "7:1", "without 'start'"),
    Malformed("where", _TABLE + 'atom = "Happens({e},{t})"\nwhere = "ce"\n', "7:1", "no table"),
    Malformed("outside", _DOMAIN + '[[tables]]\nfile = "../a"\natom = "Happens({e},{t})"\n', "5:1", "outside"),
    Malformed("binary junk", b"\x00\x01\x02", "1:1", "control character"),
    Malformed("not UTF-8", b'name = "\xff"\n', "1:9", "not UTF-8"),
]  # fmt: skip

GZIP = [
    Malformed("not packed", "time,event\n1,a\n", "", "not a gzip file"),
    Malformed("cut off", gzip.compress(b"time,event\n" + b"1,a\n" * 9000)[:60], "", "damaged gzip"),
    Malformed(
        "damaged", gzip.compress(b"time,event\n1,a\n")[:12] + b"\xff" * 20, "", "damaged gzip"
    ),
]
