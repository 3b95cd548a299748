"""The Gibbs sampler of infinite SVMs around its compiled loops."""
