"""Streams: prequential runs, readers, learners that survive a crash, and River.

Files: `forecast` predicts and learns, `run`, `metrics`, `curve` and `result` make a `prequential`
run of it; `readers` opens files by `formats`; `durable` keeps a model in a `folder` by a `journal`;
`river` speaks River's language, and is imported when it is asked for.
"""

from typing import Any

from infinimix.estimators.forecast import NEW_CLASS, Forecast
from infinimix.streaming.bad import BadRecord, StreamError
from infinimix.streaming.durable import DurableLearner
from infinimix.streaming.forecast import forecast
from infinimix.streaming.journal import DurabilityError
from infinimix.streaming.prequential import prequential
from infinimix.streaming.readers import StreamReader, read_stream
from infinimix.streaming.result import PrequentialResult

__all__ = [
    "NEW_CLASS",
    "BadRecord",
    "DurabilityError",
    "DurableLearner",
    "Forecast",
    "PrequentialResult",
    "RiverClassifier",
    "StreamError",
    "StreamReader",
    "forecast",
    "prequential",
    "read_stream",
]


def __getattr__(name: str) -> Any:
    """Import what needs River when it is asked for."""
    if name != "RiverClassifier":
        raise AttributeError(f"module 'infinimix.streaming' has no attribute {name!r}")
    from infinimix.streaming.river import RiverClassifier

    return RiverClassifier
