"""Ensembles that say how sure they are."""
