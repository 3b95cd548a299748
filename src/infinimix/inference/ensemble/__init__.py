"""Mixtures by class and island, and what they share: hyper-parameters and label hypotheses."""
