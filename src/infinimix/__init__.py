"""Classifiers and models that grow with the data."""

__version__ = "0.1.0"
