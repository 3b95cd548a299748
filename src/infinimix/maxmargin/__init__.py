"""Max-margin mixtures: DP-means, M2DPM and Gibbs infinite SVMs (Wang and Zhu 2015)."""
