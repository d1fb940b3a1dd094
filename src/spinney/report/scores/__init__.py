"""How good the predictions are: numbers with intervals, curves, suspects."""
