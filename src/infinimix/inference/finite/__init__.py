"""Finite mixtures by EM, and ensembles of them that classify."""
