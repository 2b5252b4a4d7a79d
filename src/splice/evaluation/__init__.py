"""How good an answer is: confusion counts and what follows from them."""
