"""Descents of the objective: starts, passes, merges, and the sequential algorithm."""
