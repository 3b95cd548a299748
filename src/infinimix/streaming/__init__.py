"""Streams: prequential runs, readers, learners that survive a crash, and River.

Files: `forecasting` predicts and learns, `run`, `metrics`, `curve` and `result` make of it what
`prequential_run` starts; `readers` opens files by `formats`; `durable` keeps a model in a `folder`
by `segments` of a `journal` and `snapshots`, `recovery` restores it; `river` speaks River's
language, and is imported when it is asked for.
"""

from typing import TYPE_CHECKING

from infinimix.later import late_names

if TYPE_CHECKING:
    from infinimix.estimators.online.forecast import NEW_CLASS, Forecast
    from infinimix.streaming.bad import BadRecord, StreamError
    from infinimix.streaming.durable import DurableLearner
    from infinimix.streaming.forecasting import forecast
    from infinimix.streaming.journal import DurabilityError
    from infinimix.streaming.prequential_run import prequential
    from infinimix.streaming.readers import StreamReader, read_stream
    from infinimix.streaming.recovery import Recovered
    from infinimix.streaming.requests import Receipt, RowsRequest
    from infinimix.streaming.result import PrequentialResult
    from infinimix.streaming.river import RiverAnomalyDetector, RiverClassifier, RiverClusterer

__all__ = [
    "NEW_CLASS", "BadRecord", "DurabilityError", "DurableLearner", "Forecast", "PrequentialResult",
    "Receipt", "Recovered", "RiverAnomalyDetector", "RiverClassifier", "RiverClusterer",
    "RowsRequest", "StreamError", "StreamReader", "forecast", "prequential", "read_stream",
]  # fmt: skip


if not TYPE_CHECKING:  # else a misspelt name would be Any
    __getattr__ = late_names(__name__, {
        ".bad": ("BadRecord", "StreamError"), ".durable": ("DurableLearner",),
        ".forecasting": ("forecast",), ".journal": ("DurabilityError",),
        ".prequential_run": ("prequential",), ".readers": ("StreamReader", "read_stream"),
        ".recovery": ("Recovered",), ".requests": ("Receipt", "RowsRequest"),
        ".result": ("PrequentialResult",),
        ".river": ("RiverAnomalyDetector", "RiverClassifier", "RiverClusterer"),
        "infinimix.estimators.online.forecast": ("Forecast", "NEW_CLASS"),
    })  # fmt: skip
