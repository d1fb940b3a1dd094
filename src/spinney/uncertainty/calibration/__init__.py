"""From scores to probabilities that mean what they say."""
