"""Runs over streams: predict, then learn, and see how well it goes."""

from infinimix.estimators.forecast import NEW_CLASS, Forecast
from infinimix.streaming.forecast import forecast

__all__ = ["NEW_CLASS", "Forecast", "forecast"]
