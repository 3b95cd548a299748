"""Inference algorithms, the same for every family."""
