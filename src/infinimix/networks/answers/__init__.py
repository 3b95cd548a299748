"""What a fitted network can be asked: states, densities, rows, conditionals and interventions."""
