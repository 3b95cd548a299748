"""The OpenAPI document of the service, by hand: what it says is what `reading` takes."""

from __future__ import annotations

from typing import Any

from infinimix.service.limits import Limits
from infinimix.service.reading import WHOLE, longest_id

PROBLEMS = {
    "400": "The body is no JSON.",
    "408": "The body came too slowly.",
    "413": "The request is beyond a limit.",
    "415": "The media type is not supported.",
    "421": "Without a token, the request was not addressed to this machine.",
    "422": "A field is not as it must be.",
    "429": "Too many requests; see Retry-After.",
    "500": "The model has failed.",
    "503": "Not possible at present; see Retry-After.",
}
FORMS = ("Text", "Record", "Cells")  # of rows; all rows of a request have one
TOKENS = {"401": "A token is needed.", "403": "This token may not learn."}


def write_openapi(limits: Limits, closed: bool) -> dict[str, Any]:
    """Return the document; `closed` if a token is needed."""
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "infinimix",
            "version": "1",
            "summary": "A model that learns from a stream, and answers.",
        },
        "paths": _paths(closed),
        "components": {"schemas": _schemas(limits)},
    }
    if closed:
        bearer = {"type": "http", "scheme": "bearer"}
        document["components"]["securitySchemes"] = {"token": bearer}
        document["security"] = [{"token": []}]
    return document


def _paths(closed: bool) -> dict[str, Any]:
    key = {
        "name": "Idempotency-Key", "in": "header", "schema": _ref("Id"),
        "description": "The id of a request: it is learned once, however often it is sent.",
    }  # fmt: skip
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    number = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    table: list[tuple[str, str, str, str | None, str, list[dict[str, Any]]]] = [
        ("post", "/predict", "Predict rows.", "Rows", "Predictions", []),
        ("post", "/learn", "Learn rows durably.", "Rows", "Learned", [key]),
        ("post", "/predict-then-learn", "Predict rows, then learn them.", "Rows", "Both", [key]),
        ("get", "/model", "What the model is.", None, "Object", []),
        ("get", "/classes/{name}", "What is typical of a class.", None, "Object", [name]),
        ("get", "/provisional", "Classes that wait for a name.", None, "Object", []),
        ("post", "/provisional/{id}/name", "Name a provisional class.", "Name", "Object", [number]),
        ("get", "/healthz", "Whether the process lives.", None, "Object", []),
        ("get", "/readyz", "Whether the model is restored.", None, "Object", []),
    ]  # fmt: skip
    paths: dict[str, Any] = {}
    for method, path, summary, body, answer, parameters in table:
        operation: dict[str, Any] = {"summary": summary, "responses": _responses(answer, closed)}
        if parameters:
            operation["parameters"] = parameters
        if any(given["in"] == "path" for given in parameters):
            operation["responses"]["404"] = _problem("There is no such class.")
        if body is not None:
            media = {"application/json": {"schema": _ref(body)}}
            operation["requestBody"] = {"required": True, "content": media}
            if body == "Rows":
                media["application/x-ndjson"] = {"schema": {"type": "string"}}
        if path in ("/healthz", "/readyz"):
            operation["security"] = []
        paths[path] = {method: operation}
    for path, media_type, summary in (
        ("/metrics", "text/plain", "Metrics for Prometheus."),
        ("/events", "text/event-stream", "The figures, once a second, without an end."),
    ):
        found = {"description": "The text.", "content": {media_type: {}}}
        paths[path] = {
            "get": {"summary": summary, "responses": {**_failures(closed), "200": found}}
        }
    return paths


def _responses(answer: str, closed: bool) -> dict[str, Any]:
    found = {
        "description": "The answer.",
        "content": {"application/json": {"schema": _ref(answer)}},
    }
    return {"200": found, **_failures(closed)}


def _failures(closed: bool) -> dict[str, Any]:
    known = PROBLEMS | (TOKENS if closed else {})
    return {status: _problem(text) for status, text in known.items()}


def _problem(text: str) -> dict[str, Any]:
    media = {"application/problem+json": {"schema": _ref("Problem")}}
    return {"description": text, "content": media}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


def _closed(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return _object(required, **properties) | {"additionalProperties": False}


def _schemas(limits: Limits) -> dict[str, Any]:
    text = {"type": "string", "maxLength": limits.string}
    short = {"type": "string", "maxLength": limits.name}
    cell = {"anyOf": [text, {"type": ["number", "boolean", "null"]}]}
    record = {
        "type": "object", "maxProperties": limits.columns, "propertyNames": short,
        "additionalProperties": _ref("Cell"), "description": "From columns to cells.",
    }  # fmt: skip
    cells = {"type": "array", "maxItems": limits.columns, "items": _ref("Cell")}
    whole = {"type": "integer", "minimum": WHOLE[0], "maximum": WHOLE[1]}
    label = {"anyOf": [short, whole, {"type": ["boolean", "null"]}]}
    number, count = {"type": ["number", "null"]}, {"type": "integer"}
    name = {"anyOf": [{**short, "minLength": 1}, whole]}
    many = {"type": "array", "minItems": 1, "maxItems": limits.rows}
    pairs = [_closed(("x",), x=_ref(form), y=_ref("Label")) for form in FORMS]
    its_id = {"anyOf": [_ref("Id"), {"type": "null"}]}
    one = _closed(("x",), x=_ref("Row"), y=_ref("Label"), id=its_id)
    rows = {"anyOf": [{**many, "items": _ref(form)} for form in FORMS]}
    given = {**many, "items": _ref("Label"), "description": "One for each row."}
    labels = {"anyOf": [given, {"type": "null"}]}
    several = _closed(("rows",), rows=rows, labels=labels, id=its_id)
    listed = [{**many, "items": pair} for pair in pairs]
    chance = _object(("class", "probability"), **{"class": _ref("Label"), "probability": number})
    said = _object(
        (), probability=number, probabilities={"type": "array", "items": chance}, group=count,
        anomaly_score=number, log_density=number, new_class={"type": "boolean"},
        new_class_probability=number, **{"class": _ref("Label")},
    )  # fmt: skip
    says = {"type": "array", "items": _ref("Prediction")}
    learned = {"sequence": count, "rows": count, "repeated": {"type": "boolean"}}
    return {
        "Cell": cell,
        "Text": text,
        "Record": record,
        "Cells": {**cells, "description": "Cells, or words."},
        "Row": {"anyOf": [_ref(form) for form in FORMS]},
        "Label": label,
        "Id": {"type": "string", "minLength": 1, "maxLength": longest_id(limits)},
        "Rows": {"anyOf": [one, several, *listed]},
        "Name": _closed(("name",), name=name),
        "Prediction": said,
        "Predictions": _object(("sequence", "predictions"), sequence=count, predictions=says),
        "Learned": _object(("sequence", "rows", "repeated"), **learned),
        "Both": _object(("sequence", "predictions"), seen=count, predictions=says, **learned),
        "Object": {"type": "object"},
        "Problem": _object(
            ("title", "status", "detail"), title={"type": "string"}, status=count,
            detail={"type": "string"},
            field={"type": "string", "description": "Where in the request."},
            type={"type": "string"},
        ),
    }  # fmt: skip
