"""Runs over streams: predict, then learn, and see how well it goes."""

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
    "StreamError",
    "StreamReader",
    "forecast",
    "prequential",
    "read_stream",
]
