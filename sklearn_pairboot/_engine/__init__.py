"""Numerics of the bootstrap: arrays in, arrays out; knows no estimator and no data frame."""
