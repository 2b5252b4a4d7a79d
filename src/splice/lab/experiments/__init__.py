"""What we claim, and the means to check it: grids of experiments, cached and resumable.

:mod:`.grid` computes cells, whatever they are; :mod:`.run` keeps them in a folder with a manifest;
:mod:`.tables` makes tables of them; :mod:`.published` has the numbers of the paper. A kind of
experiment (:mod:`.completion`) says what its cells are and what is done for one.
"""
