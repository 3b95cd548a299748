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
    "NEW_CLASS",
    "BadRecord",
    "DurabilityError",
    "DurableLearner",
    "Forecast",
    "PrequentialResult",
    "Receipt",
    "Recovered",
    "RiverAnomalyDetector",
    "RiverClassifier",
    "RiverClusterer",
    "RowsRequest",
    "StreamError",
    "StreamReader",
    "forecast",
    "prequential",
    "read_stream",
]


if not TYPE_CHECKING:  # else a misspelt name would be Any
    __getattr__ = late_names(
        __name__,
        {
            "NEW_CLASS": "infinimix.estimators.online.forecast",
            "BadRecord": "infinimix.streaming.bad",
            "DurabilityError": "infinimix.streaming.journal",
            "DurableLearner": "infinimix.streaming.durable",
            "Forecast": "infinimix.estimators.online.forecast",
            "PrequentialResult": "infinimix.streaming.result",
            "Receipt": "infinimix.streaming.requests",
            "Recovered": "infinimix.streaming.recovery",
            "RiverAnomalyDetector": "infinimix.streaming.river",
            "RiverClassifier": "infinimix.streaming.river",
            "RiverClusterer": "infinimix.streaming.river",
            "RowsRequest": "infinimix.streaming.requests",
            "StreamError": "infinimix.streaming.bad",
            "StreamReader": "infinimix.streaming.readers",
            "forecast": "infinimix.streaming.forecasting",
            "prequential": "infinimix.streaming.prequential_run",
            "read_stream": "infinimix.streaming.readers",
        },
    )
