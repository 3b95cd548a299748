"""All benchmarks by name: which module runs one, and which sources it measures.

`measures` are rooms or files under `src/infinimix`, without those that have a minus before them. A
benchmark of quality measures the rooms that decide what comes out; one of speed also those that a
row passes on its way; one of starting up measures all. Of the kernels, those files count that
decide what machine code does, and not those that decide where it is kept. When these sources
change, what docs/benchmarks.md prints of the benchmark is old.
"""

from __future__ import annotations

from typing import NamedTuple


class Benchmark(NamedTuple):
    """Where a benchmark is, and what it measures."""

    module: str
    measures: tuple[str, ...]


KERNELS = tuple(
    f"kernels/{name}.py"
    for name in (
        *("bits", "blocks", "compile", "dispatch", "draws", "elementary", "gamma", "held"),
        *("holes", "lanes", "logs", "matrices", "memory", "parts"),
    )
)
# The other files there decide where machine code is kept.
KEPT = (
    "__init__.py", "ahead.py", "cache.py", "dependencies.py", "origins.py", "sources.py",
)  # fmt: skip
FAMILIES = (*KERNELS, "families", "partitions")
ENGINES = (*FAMILIES, "inference")
WORDS = (*FAMILIES, "inference/online_crp")
EM = (*FAMILIES, "inference/finite")
TABLES = (*ENGINES, "tables", "estimators")
STREAMS = (*WORDS, "tables", "estimators/online", "estimators/common")
MARGINS = (*KERNELS, "maxmargin")
# No benchmark learns undirected or dynamic networks.
NO_CYCLES = (
    "-networks/engine/unconstrained.py", "-networks/learning/unconstrained_chains.py",
    "-networks/unconstrained_net.py", "-networks/markov_net.py", "-networks/dynamic_net.py",
)  # fmt: skip
NETWORKS = (*KERNELS, "networks", *NO_CYCLES)
EDGES = (
    *KERNELS, "networks/engine", "networks/learning", "networks/bayes_net.py", *NO_CYCLES,
)  # fmt: skip
LOG = ("streaming/disk.py", "streaming/journal.py", "streaming/segments.py")
SERVICE = (*STREAMS, "streaming", "service")
ALL = (".",)

BENCHMARKS = {
    "training": Benchmark("bench.training", TABLES),
    "rowwise": Benchmark("bench.rowwise", TABLES),
    "prediction": Benchmark("bench.prediction", TABLES),
    "growth": Benchmark("bench.growth", TABLES),
    "digits": Benchmark("bench.digits", ENGINES),
    "startup": Benchmark("bench.startup", ALL),
    "cold": Benchmark("bench.cold", ALL),
    "tables": Benchmark("bench.tables", TABLES),
    "imputation": Benchmark("bench.imputation", TABLES),
    "regression": Benchmark("bench.regression", (*ENGINES, "estimators/mixture/regression")),
    "density": Benchmark("bench.density", ENGINES),
    "mnist": Benchmark("bench.mnist", ENGINES),
    "effort": Benchmark("bench.effort", ENGINES),
    "texts": Benchmark("bench.texts", WORDS),
    "stream_speed": Benchmark("bench.stream_speed", STREAMS),
    "durability": Benchmark("bench.durability", LOG),
    "serving": Benchmark("bench.serving", SERVICE),
    "soak": Benchmark("bench.soak", SERVICE),
    "cluster": Benchmark("bench.cluster", ("execution", "inference/ensemble")),
    "partitions": Benchmark("bench.partitions", (*ENGINES, "tables")),
    "emerging": Benchmark("bench.emerging", WORDS),
    "drift": Benchmark("bench.drift", TABLES),
    "few_labels": Benchmark("bench.few_labels", ENGINES),
    "few_digits": Benchmark("bench.few_digits", ENGINES),
    "em_speed": Benchmark("bench.em_speed", EM),
    "maxmargin": Benchmark("bench.maxmargin", MARGINS),
    "margin_tables": Benchmark("bench.margin_tables", MARGINS),
    "networks": Benchmark("bench.networks", EDGES),
    "network_exact": Benchmark("bench.network_exact", EDGES),
    "network_files": Benchmark("bench.network_files", NETWORKS),
    "network_franchise": Benchmark("bench.network_franchise", NETWORKS),
    "network_signs": Benchmark("bench.network_signs", NETWORKS),
    "network_mixing": Benchmark("bench.network_mixing", EDGES),
    "network_queries": Benchmark("bench.network_queries", ("networks", *NO_CYCLES)),
}
