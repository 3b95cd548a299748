"""M2DPM: small-variance asymptotics for Dirichlet process mixtures of SVMs; tables 1 to 5."""

from infinimix.papers.experiment import Experiment, Paper
from infinimix.papers.m2dpm import groups, growth, real, synthetic

PAPER = Paper(
    "m2dpm",
    "Small-variance asymptotics for Dirichlet process mixtures of SVMs",
    "Y. Wang and J. Zhu, AAAI 2015",
    (
        Experiment(
            "table 1", "Accuracy and time on synthetic data",
            synthetic.tasks, synthetic.run, synthetic.summarise,
        ),
        Experiment(
            "table 2", "Clusters found by the number of rows",
            growth.tasks, growth.run, growth.summarise,
        ),
        Experiment(
            "table 3", "Protein folds", real.tasks_3, real.run_3, real.summarise_3,
            (real.PROTEINS,),
        ),
        Experiment(
            "table 4", "Detecting Parkinson's disease", real.tasks_4, real.run_4, real.summarise_4,
            (real.PARKINSON,),
        ),
        Experiment(
            "table 5", "Groups of patients", groups.tasks, groups.run, groups.summarise,
            (real.PARKINSON,),
            "ages and disease stages are not in the data; the groups' own figures stand instead.",
        ),
    ),
)  # fmt: skip
