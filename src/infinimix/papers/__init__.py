"""The experiments of the five papers, one module or package a paper, on the public API only.

`catalogue` lists the papers; an `Experiment` is one table or figure, cut into tasks that can be
run one by one and resumed; `running` runs and stores them, `page` writes what came out. The
command is `infinimix reproduce`.
"""
