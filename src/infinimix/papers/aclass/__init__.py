"""AClass: an online algorithm for generative classification; figures 4 to 8.

Section 4 is an idea of the paper's discussion, which it does not try itself. Figures 1 to 3 are
diagrams and pseudocode: the model, its dynamic form, and the algorithm.
"""

from infinimix.papers.aclass import classification, density, shared
from infinimix.papers.experiment import Absent, Experiment, Paper

PAPER = Paper(
    "aclass",
    "AClass: An online algorithm for generative classification",
    "V. K. Mansinghka, D. M. Roy, R. Rifkin and J. Tenenbaum, AISTATS 2007",
    (
        Experiment(
            "figure 4", "Groups found by the filter",
            density.tasks_4, density.run, density.summarise_4,
        ),
        Experiment(
            "figure 5", "Divergence from the true density",
            density.tasks_5, density.run, density.summarise_5,
        ),
        Experiment(
            "figure 6", "Error on four synthetic classes",
            classification.tasks, classification.run_6, classification.summarise_6,
        ),
        Experiment(
            "figure 7", "Error on 20 Newsgroups, 100 words",
            classification.tasks, classification.run_7, classification.summarise_7,
            ("20news_w100",),
        ),
        Experiment(
            "figure 8", "Error on MNIST, odd against even",
            classification.tasks, classification.run_8, classification.summarise_8, ("mnist",),
        ),
        Experiment(
            "section 4", "An additive part that all classes share",
            shared.tasks, shared.run, shared.summarise, shared.TABLES,
        ),
    ),
    (
        Absent("figure 1", "Graphical model", "a diagram"),
        Absent("figure 2", "Dynamic model", "a diagram"),
        Absent("figure 3", "Pseudocode", "the algorithm itself, tested against a slow version"),
    ),
)  # fmt: skip
