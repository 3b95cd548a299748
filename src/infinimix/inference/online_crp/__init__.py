"""The Online CRP: a stream of rows, one group for each class, corrected by its mistakes."""
