"""Fit pylace to binary rows, alone in its process: `python lace_fit.py rows.npz default 1 2 4`.

Run by `bench.density` with the Python that `INFINIMIX_LACE_PYTHON` names; it imports nothing
of this repository. The numbers are iterations in all; after each one line of JSON with the
iterations, the CPU seconds (user and system, all threads) that fitting has taken so far, those
of the scoring, and the mean log-likelihood of the held-out rows. The settings are lace's own:
8 states, inferred codebook, default transitions; with "flat" instead of "default" it is told
that there is one view of the columns, as is the case, and mixes much better.
"""

import json
import resource
import sys


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(file, mode, *schedule):
    import lace
    import numpy as np
    import pandas as pd

    rows = np.load(file)
    names = [f"x{j}" for j in range(rows["train"].shape[1])]
    train = pd.DataFrame(rows["train"].astype(bool), columns=names)
    train.index = [str(i) for i in range(len(train))]
    test = pd.DataFrame(rows["test"].astype(bool), columns=names)
    start = cpu_seconds()
    flat = mode == "flat"
    engine = lace.Engine.from_df(train, rng_seed=int(rows["seed"]), flat_columns=flat)
    fitting, done = cpu_seconds() - start, 0
    for iterations in map(int, schedule):
        start = cpu_seconds()
        engine.update(iterations - done, transitions="flat" if flat else None)
        done, middle = iterations, cpu_seconds()
        fitting += middle - start
        score = float(np.mean(engine.logp(test).to_numpy()))
        answer = [done, fitting, cpu_seconds() - middle, score]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
