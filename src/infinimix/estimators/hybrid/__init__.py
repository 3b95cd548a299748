"""Generative models that fill what is missing, for any classifier of scikit-learn."""

from infinimix.estimators.hybrid.classifier import HybridClassifier

__all__ = ["HybridClassifier"]
