"""A service around a learner: predictions, learning that is durable, a live page, sources.

Files: `app` has the routes, and `quick` a short way to those for rows; `owner` says whose turn at
the model it is, the event loop's (`ticks`) or a thread's, and `work` what is done then; `reading`
reads bodies within `limits`, `problems` words refusals, `access` asks for tokens; `answers` and
`figures` make JSON of the model, `metrics`, `openapi` and `page` show it; `sources` and
`redis_streams` learn from elsewhere; `running` starts all of it.
"""
