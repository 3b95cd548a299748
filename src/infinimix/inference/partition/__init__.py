"""Engines on partitions of the rows of one class: filter, Gibbs sweeps, split and merge."""
