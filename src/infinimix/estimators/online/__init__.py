"""`OnlineCRPClassifier`: streams whose classes emerge."""
