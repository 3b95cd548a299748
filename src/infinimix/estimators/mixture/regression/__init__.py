"""What `CRPRegressor` is made of: the target as a column, its distribution, and corrections."""
