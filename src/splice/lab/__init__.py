"""What we claim and how it is checked: simulators, public data, experiments and their figures."""
