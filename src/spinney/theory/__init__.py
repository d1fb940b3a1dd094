"""The mathematics of ensembles, on arrays: margins, bounds, games, certificates."""
