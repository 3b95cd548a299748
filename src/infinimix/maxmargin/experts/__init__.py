"""Linear experts in clusters: training, gating, calibration and mini-batches."""
