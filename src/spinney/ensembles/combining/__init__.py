"""Committees of any learners: votes, stacks, blends, and weights that are learnt."""
