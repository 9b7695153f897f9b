"""The bridge from what users pass (scorers, estimators, predictions) to kernels of the engine."""
