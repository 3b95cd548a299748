"""Load changed model files in processes with a limit on time and memory, and ask what loads.

    python -m tests.contract.model_files.running --mutants 400 [--only aclass] [--seed 1]

What may come of a changed file: it is refused when it is loaded, or all that users call answers or
raises a ValueError that is about its arguments.
"""

from __future__ import annotations

import argparse
import collections
import io
import json
import os
import resource
import signal
import traceback
import warnings
from typing import NamedTuple

import numpy as np

import infinimix
from infinimix.artifacts import ArtifactError
from tests.contract.model_files.asking import CASES, questions, saved
from tests.contract.model_files.mutants import mutate

SECONDS = 60.0  # of processor time, for one file: a changed parameter may compile other kernels
MEMORY = 700 << 20  # beside what the process has already
SIGNS = ("positive_marginals_", "negative_marginals_", "role_signs_")
ABSENT = ("columns_", "feature_names_in_", "n_features_in_", "shared_role_marginals_", *SIGNS)
#: Answers that are numbers for every row, whatever cells it lacks.
NUMBERS = ("predict_proba", "predict_proba_batch", "decision_function", "score_samples", "score")
REFUSED, FINE = "refused", "fine"
#: Words of errors that NumPy or Python raise, and no check of an argument does.
FOREIGN = (
    "broadcast",
    "shape mismatch",
    "setting an array",
    "could not convert",
    "truth value",
    "cannot reshape",
    "dimension",
    "zero-size",
    "math domain",
    "invalid literal",
    "not in list",
    "unpack",
    "out of bounds",
    "not aligned",
    "same length",
    "must match",
    "SVD",
    "singular",
    "low >= high",
    "pvals",
    "Sample larger",
    "probabilities",
    "argmax",
    "empty sequence",
    "is not finite",
    "cannot convert",
    "object too deep",
    "a must be",
    "scale < 0",
    "lam ",
    "internal error",
    "maximum supported",
    "read-only",
    "contiguous",
    "buffer",
    "strict",
    "shorter than",
    "longer than",
    "bins",
    "monotonically",
)


class Outcome(NamedTuple):
    """What came of one file."""

    kind: str  # REFUSED, FINE, or what went wrong
    change: str
    detail: str = ""


def judge(name: str, data: bytes) -> tuple[str, str]:
    """Load a file and ask all; return what came of it, and where."""
    try:
        model = infinimix.load(io.BytesIO(data))
    except ArtifactError as error:
        if isinstance(error.__cause__, MemoryError | RecursionError):
            return "memory", "load"
        return REFUSED, str(error)
    except Exception as error:
        return type(error).__name__, f"load: {_place(error)}"
    said = ""  # the first error that is about an argument
    for question, ask in questions(model, CASES[name]):
        try:
            answer = ask()
            if question in NUMBERS and np.isnan(answer).any():
                return "nan", question
        except MemoryError as error:
            return "memory", f"{question}: {_place(error)}"
        except Exception as error:
            if not _documented(error) and not _absent(question, error):
                return type(error).__name__, f"{question}: {_place(error)}"
            said = said or f"{question}: {_place(error)}"
    return FINE, said


def _documented(error: Exception) -> bool:
    """Return whether this is said of an argument, or of a parameter."""
    return isinstance(error, ValueError) and not any(word in str(error) for word in FOREIGN)


def _absent(question: str, error: Exception) -> bool:
    """Return whether this is an attribute that some fits do not leave, as `hasattr` asks."""
    return isinstance(error, AttributeError) and question in ABSENT


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "infinimix" in f.filename] or frames
    last = ours[-1]
    where = "/".join(last.filename.split("/")[-2:])
    return f"{type(error).__name__} {str(error)[:120]!r} in {where}:{last.lineno} {last.name}"


def run(name: str, seeds: list[int]) -> list[Outcome]:
    """Return what comes of one changed file of a model for each seed."""
    saved(name)
    outcomes: list[Outcome] = []
    while len(outcomes) < len(seeds):
        outcomes += _run_some(name, seeds[len(outcomes) :])
    return outcomes


def _run_some(name: str, seeds: list[int]) -> list[Outcome]:
    """Try files in a process of their own, until one of them ends it."""
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            os.close(ours)
            _try_each(name, seeds, theirs)
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        lines = pipe.read().splitlines()
    _, status = os.waitpid(child, 0)
    outcomes = [Outcome(*json.loads(line)) for line in lines if line.startswith(b"[")]
    if len(outcomes) < len(seeds):
        ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        kind = "hang" if ended == signal.SIGPROF else f"crash {ended}"
        change = mutate(saved(name), np.random.default_rng(seeds[len(outcomes)]))[0]
        place = lines[-1].decode() if lines else ""
        outcomes.append(Outcome(kind, change, place))
    return outcomes


def _try_each(name: str, seeds: list[int], out: int) -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with open("/proc/self/statm", "rb") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for seed in seeds:
        change, changed = mutate(saved(name), np.random.default_rng(seed))
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        os.write(out, f"{seed}\n".encode())
        kind, detail = judge(name, changed)
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        os.write(out, json.dumps([kind, change, detail]).encode() + b"\n")


def main() -> None:
    """Run many, and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument(
        "--said", action="store_true", help="errors about arguments and refusals, too"
    )
    args = parser.parse_args()
    total: collections.Counter[str] = collections.Counter()
    for name in args.only:
        start = os.times()
        sound = judge(name, saved(name))
        first = os.times()
        outcomes = run(name, [args.seed + k for k in range(args.mutants)])
        end = os.times()
        count = collections.Counter(outcome.kind for outcome in outcomes)
        total += count
        took = end.children_user + end.children_system - first.children_user - first.children_system
        print(
            name,
            sound,
            dict(count),
            f"fit {first.user - start.user:.1f} s, mutants {took:.1f} s",
            flush=True,
        )
        groups = collections.defaultdict(list)
        for k, outcome in enumerate(outcomes):
            if outcome.kind not in (REFUSED, FINE) or (args.said and outcome.detail):
                groups[outcome.kind, outcome.detail].append((args.seed + k, outcome.change))
        for (kind, detail), changes in sorted(groups.items(), key=lambda item: -len(item[1]))[
            : args.show
        ]:
            print(f"   {len(changes)} x {kind}: {detail}\n        {changes[:3]}", flush=True)
    print("all", sum(total.values()), dict(total))


if __name__ == "__main__":
    main()
