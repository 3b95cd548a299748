"""Generative models that fill what is missing, for any classifier of scikit-learn."""

from infinimix.estimators.hybrid.classifier import HybridClassifier, design_matrix

__all__ = ["HybridClassifier", "design_matrix"]
