"""The papers by name; a paper is imported when it is asked for."""

from __future__ import annotations

import importlib

from infinimix.papers.experiment import Paper

PAPERS = {  # name on the command line -> module that holds `PAPER`
    "aclass": "infinimix.papers.aclass",
    "online-crp": "infinimix.papers.online_crp",
    "m2dpm": "infinimix.papers.m2dpm",
    "batch-mixtures": "infinimix.papers.batch_mixtures",
    "blockmodel": "infinimix.papers.blockmodel",
}


def load(name: str) -> Paper:
    """Return a paper with its experiments."""
    paper = importlib.import_module(PAPERS[name]).PAPER
    assert isinstance(paper, Paper)
    return paper
