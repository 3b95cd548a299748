"""What people ask of a fitted model beside its predictions."""
