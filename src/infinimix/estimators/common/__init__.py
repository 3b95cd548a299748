"""What several estimators share: parameters, labels, tables, progress."""
