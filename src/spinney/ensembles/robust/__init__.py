"""Boosting for labels that may be wrong: boosters that give up on rows instead of chasing them.

A booster with a convex potential can be led astray by any share of wrong labels (Long and
Servedio, 2010). Those here bound what a row can weigh (``smooth``), let the pull of a hopeless row
fade (``brown``, ``robust``, ``nonconvex``), or never compare rows of different pasts
(``martingale``). They meet weak learners through ``spinney.ensembles.weak.hypothesis`` alone.
"""
