"""The learners: estimators with scikit-learn's interface that produce frozen models."""
