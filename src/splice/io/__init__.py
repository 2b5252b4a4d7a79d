"""Files: the only room that opens them, one package or module for each language."""
