"""A page that was written, and that a notebook shows in place."""

from __future__ import annotations

from html import escape
from pathlib import Path

HEIGHT = 700  # pixels


class Report:
    """A report: a file, which a notebook shows inline.

    Attributes
    ----------
    path : Path
        The file that was written.
    html : str
        The page.
    """

    def __init__(self, path: Path, html: str) -> None:
        self.path, self.html = path, html

    def __repr__(self) -> str:
        return f"Report({str(self.path)!r})"

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, so that styles of page and notebook stay apart."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="infinimix report" width="100%" '
            f'height="{HEIGHT}" style="border:1px solid rgba(128,128,128,.4)"></iframe>'
        )
