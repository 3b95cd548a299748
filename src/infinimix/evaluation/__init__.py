"""How good predictions are: folds, scores, intervals and calibration, in one place for all.

The command, reports, streams and benchmarks measure with what is here. `folds` deals rows out,
`predictions` lets models predict rows they have not learned, `scores`, `averages` and `summary`
count what came of it, `regression` does so for numbers, `importance` says what columns are worth,
`intervals` says how sure a figure is, `calibration` compares confidence with accuracy, and
`running` holds sums for streams, which are read at any time.

This file imports nothing: a command that refuses a file must not wait for SciPy.
"""
