"""Several networks, learned together, whose variables share roles."""
