"""What arrives: atoms as columns, cut into micro-batches, with labels that may be hidden."""
