"""The command: what is refused before anything listens, and what the document says."""

import json
import re

import pytest
from typer.testing import CliRunner

from infinimix.cli import app
from infinimix.service.access import LEARN, READ, Access
from infinimix.service.limits import Limits
from infinimix.service.openapi import write_openapi
from tests.unit.service.served import serving


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--model", "m2dpm"], "none of online-crp"),
        (["--host", "0.0.0.0"], "token"),
        (["--model", "aclass"], "--columns"),
        (["--columns", "{size"], "no JSON"),
        (["--redis", "redis://127.0.0.1:1"], "--stream"),
        (["--token-file", "gone"], "no file or folder"),
    ],
)
def test_what_cannot_be_served_is_refused_at_once(tmp_path, monkeypatch, args, words):
    monkeypatch.delenv(LEARN, raising=False)
    monkeypatch.delenv(READ, raising=False)
    done = CliRunner().invoke(app, ["serve", str(tmp_path / "state"), *args])
    assert done.exit_code == 2
    assert words in done.output
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("url", ["localhost", "http://127.0.0.1:9"])
def test_a_service_that_is_not_there_cannot_be_watched(url):
    done = CliRunner().invoke(app, ["watch", url, "--once"])
    assert done.exit_code == 2
    assert url in done.output


def test_the_document_names_every_address_and_only_schemas_that_are_there(tmp_path):
    with serving(tmp_path, access=Access("t" * 20)) as client:
        found = client.get("/openapi.json", headers={"authorization": "Bearer " + "t" * 20}).json()
        routes = {route.path.replace(":path", "") for route in client.app.routes}
    assert set(found["paths"]) == routes - {"/", "/openapi.json"}
    used = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(found)))
    assert used == set(found["components"]["schemas"])
    assert found["security"] == [{"token": []}]
    assert "security" not in write_openapi(Limits(), closed=False)
