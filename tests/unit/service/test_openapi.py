"""What the OpenAPI document allows is understood, what it forbids refused, answers are as it says.

Requests are drawn from the document itself, with small limits so that its bounds are reached.
"""

import json
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infinimix.service.limits import Limits
from infinimix.service.openapi import write_openapi
from tests.unit.service.schemas import CHARACTERS, Schemas
from tests.unit.service.served import LABELS, ROWS, serving

LIMITS = Limits(rows=3, columns=3, string=12, name=6)
DOCUMENT = write_openapi(LIMITS, closed=False)
SCHEMAS = Schemas(DOCUMENT)
ROUTES = ["/predict", "/learn", "/predict-then-learn", "/provisional/0/name"]
NOTHING = [
    None, True, 7, 1.5, "x", [], {}, [[]], [None], {"x": None}, {"x": {"a": []}}, {"x": [{}]},
    "y" * 13, [1] * 4, {"a" * 7: 1}, dict.fromkeys("abcd", 1),
]  # fmt: skip
half = settings(max_examples=settings.default.max_examples // 2)
UNREAD = (400, 413, 415)  # the body is no request at all


def body_schema(route):
    path = route.replace("/0/", "/{id}/")
    return DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]


@st.composite
def bodies(draw, route):
    """A body that the document allows."""
    body = draw(SCHEMAS.values(body_schema(route)))
    if isinstance(body, dict) and body.get("labels"):  # one for each row, which no schema can say
        body["labels"] = (body["labels"] * 3)[: len(body["rows"])]
    return body


@st.composite
def spoilt(draw, route):
    """A body with a place of an allowed one changed; None if the document allows that, too."""
    body = json.loads(json.dumps(draw(bodies(route))))
    spots = list(places(body))
    parent, key = draw(st.sampled_from(spots))
    wrong = draw(st.sampled_from(NOTHING))
    if parent is None:
        body = wrong
    elif isinstance(parent, dict) and draw(st.booleans()):
        parent[draw(st.sampled_from(["z", "X", "labels", "rows", "x"]))] = wrong
    else:
        parent[key] = wrong
    return body


def places(body, parent=None, key=None):
    yield parent, key
    if isinstance(body, dict | list):
        for k, value in body.items() if isinstance(body, dict) else enumerate(body):
            yield from places(value, body, k)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A service that has learned something, and has a class without a name."""
    with serving(tmp_path_factory.mktemp("state"), limits=LIMITS) as client:
        for i in range(0, 18, 3):
            client.post("/learn", {"rows": ROWS[i : i + 3], "labels": LABELS[i : i + 3]})
        client.post("/learn", {"rows": ["oboe solo", "oboe harp"]})
        yield client


def check(client, route, answer):
    """The status is one of the document, and the answer is as it says."""
    operation = DOCUMENT["paths"][route.replace("/0/", "/{id}/")]["post"]
    said = operation["responses"][str(answer.status_code)]["content"]
    media = answer.headers["content-type"].partition(";")[0]
    assert SCHEMAS.allows(said[media]["schema"], answer.json()), answer.text
    assert answer.status_code != 500


@pytest.mark.parametrize("route", ROUTES)
def test_what_the_document_allows_is_understood(route, client):
    @half
    @given(bodies(route))
    def ask(body):
        answer = client.post(route, body)
        check(client, route, answer)
        assert answer.status_code not in UNREAD, answer.text
        if answer.status_code == 422:  # by the model: it has learned texts
            assert answer.json()["field"] in ("x", "rows", "name"), answer.text

    ask()


@pytest.mark.parametrize("route", ROUTES)
def test_what_the_document_forbids_is_refused_and_learned_by_nobody(route, client):
    @half
    @given(spoilt(route))
    def ask(body):
        if SCHEMAS.allows(body_schema(route), body):
            return
        before = client.owner.learner.sequence
        answer = client.post(route, body)
        check(client, route, answer)
        assert 400 <= answer.status_code < 500, (body, answer.text)
        assert client.owner.learner.sequence == before

    ask()


@half
@given(st.binary(max_size=30), st.sampled_from(["application/json", "application/x-ndjson", "a/b"]))
def test_bytes_that_are_no_request_are_refused(client, content, media):
    headers = {"content-type": media}
    answer = client.many(("POST", "/learn", {"content": content, "headers": headers}))[0]
    check(client, "/learn", answer)
    assert 400 <= answer.status_code < 500


@half
@given(st.text(CHARACTERS, min_size=1, max_size=8))
def test_any_name_of_a_class_can_be_asked_for(client, name):
    answer = client.get("/classes/" + quote(name, safe=""))
    assert answer.status_code in (200, 404)


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_other_methods_are_told_which_there_are(path, client):
    if "{" in path:
        path = path.replace("{id}", "0").replace("{name}", "car")
    answer = client.many(("TRACE", path, {}))[0]
    assert answer.status_code == 405
    assert answer.headers["allow"] in ("GET", "POST")
