"""`CRPMixture`, `CRPImputer` and `CRPRegressor`: one CRP mixture for all rows."""
