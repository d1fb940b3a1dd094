"""Boosting for large margins: votes whose least margin, or soft margin, is nearly the best.

All of them play the same game. With M_ij = y_i h_j(x_i) the votes of hypothesis j for row i, the
soft margin of weights w is the least d·Mw over all distributions d that give no row more than
1 / nu times its share; by duality the largest soft margin is the least largest edge.
"""
