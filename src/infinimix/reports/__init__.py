"""Pages to look at: self-contained HTML, with pictures drawn in place.

`write_report` makes a page about a fitted model, `write_stream_report` one about a run over a
stream. `model_page` dispatches on the kind of model to `classifier_page`, `mixture_page` and
`network_page`; those put sections together from small files (`scores`, `prototypes`, `worth`,
`hardest`, `holes`). `page` and `pieces` are HTML, `charts` and `pictures` are SVG. `comparison`
trains classifiers side by side for `demo`, the story that `infinimix demo` tells. `plots` draws on
matplotlib axes, and `shown` lets a notebook show a page.
"""

from infinimix.reports.model_page import write_report
from infinimix.reports.stream_page import write_stream_report

__all__ = ["write_report", "write_stream_report"]
