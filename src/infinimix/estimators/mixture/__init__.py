"""`CRPMixture` and `CRPImputer`: one CRP mixture for all rows."""
