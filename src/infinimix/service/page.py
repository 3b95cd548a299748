"""The live page: one HTML file with its script, which reads /events and needs nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from infinimix.reports.markup import Markup, render
from infinimix.reports.page import asset


@cache
def live_page() -> str:
    """Return the page; it holds no data, and asks for a token where one is needed."""
    style = Markup("").join((asset("page.css"), asset("report.css"), _own("live.css")))
    body = [_own("live.html")]
    return render(
        "page.html", title="infinimix, live", style=style, pieces=body, script=_own("live.js")
    )


@cache
def security_policy() -> str:
    """Return the content security policy: this script and no other, and this server only."""
    text = live_page()
    script = text[text.index("<script>") + len("<script>") : text.index("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


def _own(name: str) -> Markup:
    folder = files("infinimix.service").joinpath("templates")
    return Markup(folder.joinpath(name).read_text(encoding="utf-8"))
