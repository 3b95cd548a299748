"""The command: what is refused before anything listens, and what the document says."""

import json
import re
import socket

import pytest

from infinimix import AClassClassifier, OnlineCRPClassifier
from infinimix.cli.kinds import ask_kinds
from infinimix.cli.serve import _read_columns as read_columns
from infinimix.cli.tables_in import read_table
from infinimix.service import running
from infinimix.service.access import LEARN, READ, Access
from infinimix.service.limits import Limits
from infinimix.service.openapi import write_openapi
from infinimix.streaming import DurableLearner, recovery
from tests.endtoend.command_files import invoke
from tests.unit.service.served import serving


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--model", "m2dpm"], "none of online-crp"),
        (["--host", "0.0.0.0"], "token"),
        (["--model", "aclass"], "--columns"),
        (["--columns", "{size"], "no JSON"),
        (["--columns", "kinds.toml"], "neither a kind"),
        (["--columns", '{"size": "large"}'], "'large'"),
        (["--columns", '{"size": "real", "id": "drop"}'], "'id' is to be left out"),
        (["--redis", "redis://127.0.0.1:1"], "--stream"),
        (["--token-file", "gone"], "no file or folder"),
    ],
)
def test_what_cannot_be_served_is_refused_at_once(tmp_path, monkeypatch, args, words):
    monkeypatch.delenv(LEARN, raising=False)
    monkeypatch.delenv(READ, raising=False)
    done = invoke("serve", tmp_path / "state", *args)
    assert done.exit_code == 2
    assert words in done.output
    assert not (tmp_path / "state").exists()


def test_columns_take_the_forms_of_fit(tmp_path):
    path = tmp_path / "kinds.toml"
    path.write_text(
        'size = "log"\ncolour = "category"\n"a, b" = "gaussian"\nwhen = "date:dmy"\n"c,d" = "count"'
    )
    (tmp_path / "rows.csv").write_text("size,colour,a,b,c,d,when\n1,red,1,2,3,4,1.2.2024\n")
    found = read_columns(str(path), "aclass", tmp_path / "state")
    fitted = ask_kinds(read_table(tmp_path / "rows.csv"), {}, path, None).columns
    assert found == fitted
    assert found[("a", "b")] == "gaussian"
    kinds = {"size": "log", "colour": "category", "when": "date:dmy"}
    given = json.dumps({**kinds, "a,b": "gaussian", "c,d": "count"})
    assert read_columns(given, "aclass", tmp_path / "state") == found
    assert read_columns("number", "aclass", tmp_path / "state") == "real"
    assert read_columns("text", "online-crp", tmp_path / "state") == "text"
    assert read_columns(None, "online-crp", tmp_path / "state") == "text"


@pytest.mark.parametrize("url", ["localhost", "http://127.0.0.1:9"])
def test_a_service_that_is_not_there_cannot_be_watched(url):
    done = invoke("watch", url, "--once")
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


def test_the_columns_of_a_folder_are_kept_and_its_snapshot_is_read_once(tmp_path, monkeypatch):
    """Without --columns the model that is restored says what its columns are."""
    kinds = {"size": "real", "colour": "categorical"}
    with DurableLearner(AClassClassifier(kinds, random_state=0), tmp_path) as learner:
        learner.learn([{"size": 1.0, "colour": "red"}], ["ant"])
    served, read = [], []
    monkeypatch.setattr(running, "serve", served.append)
    read_state = recovery.read_state
    monkeypatch.setattr(recovery, "read_state", lambda *a: read.append(a) or read_state(*a))
    assert invoke("serve", tmp_path, "--model", "aclass").exit_code == 0
    owner = running.make_owner(served[0])
    owner.start()
    owner.stop()
    assert owner.failure is None
    assert owner.learner.model.columns == kinds
    assert len(read) == 1
    assert invoke("serve", tmp_path, "--model", "mixture").exit_code == 0
    owner = running.make_owner(served[1])
    owner.start()
    owner.stop()
    assert "holds an AClassClassifier" in str(owner.failure)


def test_a_folder_or_port_in_use_is_told_before_anything_starts(tmp_path):
    with DurableLearner(OnlineCRPClassifier(random_state=0), tmp_path):
        done = invoke("serve", tmp_path)
        assert done.exit_code == 2
        (line,) = done.stderr.splitlines()
        assert line.endswith("is in use by another command, service or learner; end that one "
                             "first, or take another folder")  # fmt: skip
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = invoke("serve", tmp_path, "--port", str(port))
        assert done.exit_code == 2
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"infinimix serve: port {port} of 127.0.0.1 is in use; take another")
    (tmp_path / "token").write_text("t" * 20)
    place = ("--host", "192.0.2.1", "--token-file", tmp_path / "token")  # of no computer
    done = invoke("serve", tmp_path / "other", *place)
    assert done.exit_code == 2
    assert "nothing can listen at port 8080 of 192.0.2.1" in done.stderr
