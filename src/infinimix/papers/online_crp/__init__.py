"""The Online CRP: tables 1 to 7, figure 2, section 4 by time and section 4.4.

Figure 1 is the graphical model.
"""

from infinimix.papers.experiment import Absent, Paper
from infinimix.papers.online_crp import studies, tables

PAPER = Paper(
    "online-crp",
    "Online Chinese restaurant process",
    "C. L. Liu, T. H. Tsai and C. H. Lee, KDD 2014",
    (*tables.EXPERIMENTS, *studies.EXPERIMENTS),
    (Absent("figure 1", "The graphical model", "a diagram"),),
)
