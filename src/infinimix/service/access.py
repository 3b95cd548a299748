"""Who may ask: tokens for reading and for learning, and only this machine without one.

The token for learning may do everything, the one for reading may not learn. They come from files or
from the environment, are compared in constant time, and appear in no log and no message.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from infinimix.service.problems import HttpProblem

LEARN, READ = "INFINIMIX_TOKEN", "INFINIMIX_READ_TOKEN"
SHORTEST = 16  # characters of a token
LOCAL_NAMES = {"localhost", "127.0.0.1", "[::1]"}


class Access:
    """The tokens of a service.

    Parameters
    ----------
    learn, read : str, optional
        The tokens; without any, requests must be addressed to this machine by name, so that no
        page of a browser can reach the service under a name of its own.
    """

    def __init__(self, learn: str | None = None, read: str | None = None) -> None:
        for token in (learn, read):
            if token is not None and len(token) < SHORTEST:
                raise ValueError(f"a token has at least {SHORTEST} characters.")
        if learn is None and read is not None:
            raise ValueError(f"a token for reading needs one for learning, too: set {LEARN}.")
        self.is_open = learn is None
        self._learn = None if learn is None else learn.encode()
        self._read = None if read is None else read.encode()

    def check(self, headers: Mapping[str, str], learns: bool) -> None:
        """Raise HttpProblem unless a request may read, or learn."""
        if self._learn is None:
            self._check_host(headers.get("host", ""))
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise HttpProblem(401, "send the header Authorization: Bearer <token>")
        given = token.strip().encode("utf-8", "replace")
        may_learn = hmac.compare_digest(given, self._learn)
        may_read = self._read is not None and hmac.compare_digest(given, self._read)
        if not may_learn and not may_read:
            raise HttpProblem(401, "this token is not known")
        if learns and not may_learn:
            raise HttpProblem(403, "this token may read, but not learn")

    def _check_host(self, host: str) -> None:
        if not _is_this_machine(host):
            raise HttpProblem(421, "without a token the service answers to localhost only", "host")


@lru_cache(64)
def _is_this_machine(host: str) -> bool:
    """Whether the header `host` names this machine."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    return name.lower() in LOCAL_NAMES or is_loopback(name.strip("[]"))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_access(host: str, learn_file: Path | None = None, read_file: Path | None = None) -> Access:
    """Return the tokens that files or the environment give; others than this machine need one.

    Raises
    ------
    ValueError
        If the service would listen elsewhere without a token.
    """
    access = Access(_token(learn_file, LEARN), _token(read_file, READ))
    if access.is_open and not is_loopback(host):
        raise ValueError(
            f"--host {host} can be reached from other machines, so a token is needed: put one "
            f"into a file (--token-file) or into the environment variable {LEARN}."
        )
    return access


def _token(path: Path | None, variable: str) -> str | None:
    if path is not None:
        return path.read_text(encoding="utf-8").strip()
    return os.environ.get(variable, "").strip() or None
