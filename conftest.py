"""Files whose optional library is not installed have no examples to run."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("river") else ["src/infinimix/streaming/river.py"]
