"""Descents of the objective: where they start, their passes, merges, and the sequential algorithm."""
