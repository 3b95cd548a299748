"""The steps of the particle filter: which particles are kept, and how."""
