"""Where the numbers behind a split come from, and the words for them."""
