"""`AClassClassifier`: one CRP mixture for each class."""
