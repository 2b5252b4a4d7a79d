"""Semi-supervised online structure learning for composite event recognition.

A stream of simple events, a few labels, and rules that say when the composite events
hold. The words of the project are values whose text reads back:

>>> import splice
>>> rule = splice.parse_rule("initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), close(X,Y,25,T).")
>>> print(rule.head)
initiatedAt(meet(X,Y),T)
>>> splice.parse_rule(str(rule)) == rule
True

What normal use needs can be taken from here. The stub beside this file declares the names, once
for people, type checkers and Python; the modules behind them are loaded on first use, so
``import splice`` alone costs next to nothing. What is further in (parts of rules, further strategies,
windows, weighted inference) is imported from its own module.
"""

from typing import Final

import lazy_loader

__version__: Final = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
