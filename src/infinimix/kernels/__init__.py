"""Numerics that know no family (stub, to be overwritten at merge)."""
