"""The regression by which models are stacked: its cost, and where that is least."""
