"""Speed and quality of infinimix against peers, in one run: `python -m bench`.

One thread, so that a ratio of times is a ratio of work. The limits must be set before NumPy
is imported, hence here.
"""

import os

for variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
):
    os.environ[variable] = "1"
