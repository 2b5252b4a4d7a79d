"""Something to look at: values stay plain, and what is here draws them."""
