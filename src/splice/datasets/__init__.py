"""Something to run on: domains that ship, and simulators."""
