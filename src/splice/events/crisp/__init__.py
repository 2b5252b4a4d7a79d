"""Crisp recognition: a program of rules, joins over columns, intervals, windows."""
