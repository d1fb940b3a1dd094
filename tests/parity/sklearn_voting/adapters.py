"""Our classes under scikit-learn's names."""

import spinney


class VotingClassifier(spinney.VotingClassifier):
    pass


class VotingRegressor(spinney.VotingRegressor):
    pass
