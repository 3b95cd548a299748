"""Engines that are blind to the family."""
