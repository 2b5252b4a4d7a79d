"""Labelled data of other fields than ours, as tables of events and labels.

=============  =======================  ==========================================================
dataset        field                    what is recognised
=============  =======================  ==========================================================
``occupancy``  an office                somebody is in, from light, air and heat (numbers)
``skab``       a machine                a valve is being closed, from eight sensors (numbers)
``jaad``       traffic                  a pedestrian crosses before the car (words, many entities)
=============  =======================  ==========================================================

Each module reads what its publishers publish and returns :class:`~splice.lab.foreign.tables.EventTables`;
the archives themselves stand in :mod:`splice.lab.archives`, and ``splice data fetch`` gets them.
"""
