"""Numerics that know no family: compilation, dispatch, elementary functions, draws."""
