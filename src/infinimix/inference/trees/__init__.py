"""Ensembles of decision trees on binned cells: a forest, and boosted trees."""
