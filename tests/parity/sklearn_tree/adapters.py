"""Our trees under scikit-learn's names; its extra trees are ours with random cuts."""

import spinney


class DecisionTreeClassifier(spinney.DecisionTreeClassifier):
    pass


class DecisionTreeRegressor(spinney.DecisionTreeRegressor):
    pass


class ExtraTreeClassifier(spinney.DecisionTreeClassifier):
    def __init__(
        self,
        *,
        criterion="gini",
        splitter="random",
        search="exact",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        max_bins=255,
        categorical_features="from_dtype",
        unseen="missing",
        extra_columns="error",
        n_jobs=None,
    ):
        parameters = {name: value for name, value in locals().items() if name[0] not in "_s"}
        parameters |= {"splitter": splitter, "search": search}
        super().__init__(**parameters)


class ExtraTreeRegressor(spinney.DecisionTreeRegressor):
    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="random",
        search="exact",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        max_bins=255,
        categorical_features="from_dtype",
        unseen="missing",
        extra_columns="error",
        n_jobs=None,
    ):
        parameters = {name: value for name, value in locals().items() if name[0] not in "_s"}
        parameters |= {"splitter": splitter, "search": search}
        super().__init__(**parameters)
