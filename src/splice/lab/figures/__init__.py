"""Figures of experiments: sweeps, panels in the layout of the paper, what growing data costs."""
