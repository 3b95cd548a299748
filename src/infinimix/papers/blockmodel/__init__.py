"""Block-structured priors for Bayesian networks (chapter 2 of the thesis): figures 2-2 to 2-6.

Figure 2-1 is the graphical model of the priors. Chapter 3 is the AClass paper.
"""

from functools import partial

from infinimix.papers.blockmodel import learning
from infinimix.papers.experiment import Absent, Experiment, Paper


def _figure(
    item: str, title: str, world: str, rows: tuple[int, ...] | None = None,
    data: tuple[str, ...] = (), most: int = 2,
) -> Experiment:  # fmt: skip
    return Experiment(
        item, title, partial(learning.tasks, rows, most), partial(learning.run, world),
        partial(learning.summarise, world), data,
    )  # fmt: skip


PAPER = Paper(
    "blockmodel",
    "Nonparametric Bayesian methods for supervised and unsupervised learning, chapter 2",
    "V. K. Mansinghka, MEng thesis, MIT 2009",
    (
        _figure("figure 2-2", "Twelve variables in three layers, 75 rows", "layers", (75,)),
        _figure("figure 2-3", "A sparse network without roles", "no roles"),
        _figure("figure 2-4", "Diseases and symptoms, noisy-or", "diseases and symptoms"),
        _figure("figure 2-5", "Regulators and genes", "regulators"),
        _figure(
            "figure 2-6",
            "21 variables of HEPAR II",
            "HEPAR II",
            None,
            ("bayesian_networks",),
            1,
        ),
    ),
    (Absent("figure 2-1", "Graphical model of the priors", "a diagram"),),
)
