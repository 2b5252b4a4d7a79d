"""Engines: who does the work that can be done side by side.

A run is a graph of tasks, each a pure function of its arguments, some of which are promises of
other tasks. An engine works them off and gives the results in order, so nothing that comes out
depends on which engine it is, how many workers it has, or which of them die on the way.
"""
