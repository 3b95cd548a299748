"""Priors on partitions."""
