"""Weighted recognition: ground networks, which are chains or an integer program, solved exactly."""
