"""Networks with known tables, their file formats, other libraries and plots."""
