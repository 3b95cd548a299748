"""Compiled code of networks: scores, priors, moves and chains. Edits here recompile."""
