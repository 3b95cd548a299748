"""Refusals as problem+json (RFC 9457), which name the field that is to be put right."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import Response

TITLES = {
    400: "The body cannot be read",
    401: "A token is needed",
    403: "This token may not do that",
    404: "There is no such thing",
    405: "This method is not allowed here",
    408: "The request came too slowly",
    409: "The model cannot answer that",
    413: "The request is too large",
    415: "The media type is not supported",
    421: "The request was meant for another host",
    422: "A field is not as it must be",
    429: "Too many requests",
    500: "The service has failed",
    503: "Not possible at present",
}


class HttpProblem(Exception):
    """Why a request is refused.

    Parameters
    ----------
    status : int
        The status of HTTP.
    detail : str
        What is wrong and what to do.
    field : str, optional
        Where in the request, such as ``rows[3].size``.
    retry : int, optional
        Seconds after which to try again.
    allow : str, optional
        The methods that an address takes.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        field: str | None = None,
        retry: int | None = None,
        allow: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.field = status, detail, field
        self.retry, self.allow = retry, allow

    def response(self) -> Response:
        """Return the answer."""
        content: dict[str, Any] = {
            "type": "about:blank",
            "title": TITLES.get(self.status, "Refused"),
            "status": self.status,
            "detail": self.detail,
        }
        if self.field is not None:
            content["field"] = self.field
        headers = {} if self.retry is None else {"retry-after": str(self.retry)}
        if self.allow is not None:
            headers["allow"] = self.allow
        if self.status == 401:
            headers["www-authenticate"] = "Bearer"
        return Response(
            orjson.dumps(content), self.status, headers, media_type="application/problem+json"
        )


def too_large(what: str, most: int, field: str | None = None) -> HttpProblem:
    """Return the refusal of a request that is beyond a limit."""
    return HttpProblem(413, f"{what}: at most {most:,} are taken; send less at once", field)


def bad_field(field: str, detail: str) -> HttpProblem:
    """Return the refusal of a field."""
    return HttpProblem(422, detail, field)
