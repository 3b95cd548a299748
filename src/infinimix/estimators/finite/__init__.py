"""`FiniteMixtureClassifier`: mixtures by EM, over training and query rows together."""
