"""What we claim, and the means to check it: grids of experiments, cached and resumable.

:mod:`.grid` computes cells, whatever they are; :mod:`.run` keeps them in a folder with a manifest;
:mod:`.tables` makes tables of them, the numbers of the paper beside ours. A kind of experiment
(:mod:`.completion`, :mod:`.learning`, :mod:`.active`, :mod:`.scale`) says what its cells are and what is
done for one.
"""
