"""Routes: what is asked, what is answered, and what stays after a restart."""

import time
from concurrent.futures import Future
from threading import Event

import numpy as np
import pytest

from infinimix import AClassClassifier, CRPMixture
from infinimix.service.jobs import Job
from infinimix.streaming import disk
from infinimix.streaming.durable import DurableLearner
from tests.unit.service.served import LABELS, ROWS, serving, text_model


def test_a_service_learns_predicts_and_goes_on_after_a_restart(tmp_path):
    with serving(tmp_path) as client:
        nothing = client.post("/predict", {"x": "red apple"}).json()
        assert nothing["sequence"] == 0
        assert nothing["predictions"][0]["class"] is None
        done = client.post("/learn", {"rows": ROWS, "labels": LABELS})
        assert done.status_code == 200, done.text
        sequence = done.json()["sequence"]
        assert done.json() == {"sequence": sequence, "rows": 20, "repeated": False}
        said = client.post("/predict", {"x": "green apple"}).json()
        assert said["sequence"] == sequence
        assert said["predictions"][0]["class"] == "fruit"
        assert client.owner.learner.durable == sequence
    with serving(tmp_path) as client:
        assert client.post("/predict", {"x": "green apple"}).json() == said
        assert client.get("/model").json()["rows"] == 20


def test_the_model_is_the_one_that_learns_without_a_service(tmp_path):
    """One row a request, many at once, and request ids: the same model in the end, bit for bit."""
    alone = DurableLearner(text_model(), tmp_path / "alone")
    alone.partial_fit(ROWS, LABELS)
    with serving(tmp_path / "served") as client:
        client.post("/learn", {"rows": ROWS[:4], "labels": LABELS[:4]})
        rows = list(zip(ROWS, LABELS, strict=True))[4:]
        for i, (x, y) in enumerate(rows):
            path = ("/learn", "/predict-then-learn")[i % 2]
            body = {"x": x, "y": y} | ({"id": f"r{i}"} if i % 3 == 0 else {})
            assert client.post(path, body).status_code == 200
        found = client.owner.learner.model.predict_proba(ROWS)
    np.testing.assert_array_equal(found, alone.predict_proba(ROWS))
    alone.close()


def wait_until(true, seconds=60.0):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)


def count_waiting(client, kind):
    return sum(job.kind == kind for job in list(client.owner._queue))


def test_requests_at_once_share_flushes_and_are_all_kept(tmp_path):
    with serving(tmp_path) as client:
        client.post("/learn", {"rows": ROWS, "labels": LABELS})
        flushes = []
        flush = client.owner.learner.flush
        client.owner.learner.flush = lambda: flushes.append(1) or flush()
        hold = Job("ask", Future())  # until all requests wait, whatever the live page asks between
        hold.work = lambda learner: (
            begun.set() or wait_until(lambda: count_waiting(client, "learn") == 200)
        )
        begun = Event()
        client.owner.submit(hold)
        assert begun.wait(60)  # else the owner may take it together with the first requests
        calls = [
            ("POST", "/learn", {"json": {"x": ROWS[i % 20], "y": LABELS[i % 20]}})
            for i in range(200)
        ]
        calls[50] = ("POST", "/learn", {"json": {"x": {"a": "b"}, "y": "fruit"}})  # refused
        done = client.many(*calls)
        assert [answer.status_code for answer in done].count(200) == 199
        assert done[50].status_code == 422
        assert client.owner.learner.n_rows == 20 + 199
        assert 1 <= len(flushes) <= 2  # groups of at most 128; the second may be in time for one


def test_a_repeated_request_is_learned_once_also_after_a_restart(tmp_path):
    row = {"x": "red apple", "y": "fruit"}
    with serving(tmp_path) as client:
        client.post("/learn", {"rows": ROWS, "labels": LABELS})
        first = client.post("/learn", row, headers={"idempotency-key": "one"}).json()
        again = client.post("/learn", {**row, "id": "one"}).json()
        assert (first["repeated"], again["repeated"]) == (False, True)
        assert first["sequence"] == again["sequence"]
        assert client.owner.learner.n_rows == 21
    with serving(tmp_path) as client:
        assert client.post("/learn", {**row, "id": "one"}).json()["repeated"]
        assert client.owner.learner.n_rows == 21


def test_provisional_classes_are_named_and_the_name_stays(tmp_path):
    with serving(tmp_path) as client:
        client.post("/learn", {"rows": ROWS, "labels": LABELS})
        client.post("/learn", [{"x": "oboe solo"}, {"x": "oboe and harp"}])
        waiting = client.get("/provisional").json()["provisional"]
        assert waiting[0]["rows"] == 2
        assert "oboe" in waiting[0]["typical"]
        number = waiting[0]["id"]
        assert client.post("/provisional/77/name", {"name": "music"}).status_code == 404
        assert client.post(f"/provisional/{number}/name", {"name": ""}).status_code == 422
        assert client.post(f"/provisional/{number}/name", {"name": "music"}).status_code == 200
        assert client.get("/provisional").json()["provisional"] == []
    with serving(tmp_path) as client:
        said = client.post("/predict", {"x": "harp solo"}).json()["predictions"][0]
        assert said["class"] == "music"
        assert "oboe" in client.get("/classes/music").json()["typical"]


def test_tables_have_prototypes(tmp_path):
    def model():
        kinds = {"size": "real", "colour": "categorical"}
        return AClassClassifier(kinds, n_islands=1, n_particles=4, random_state=0)

    rows = [{"size": 1.0 + i % 3, "colour": "red"} for i in range(6)]
    rows += [{"size": 9.0 + i % 3, "colour": None} for i in range(6)]
    with serving(tmp_path, model) as client:
        answer = client.post("/learn", {"rows": rows, "labels": ["ant"] * 6 + ["bee/2"] * 6})
        assert answer.status_code == 200, answer.text
        assert (
            client.post("/predict", {"x": {"size": 9.5}}).json()["predictions"][0]["class"]
            == "bee/2"
        )
        assert client.get("/model").json()["columns"]["size"].startswith("real")
        found = client.get("/classes/bee%2F2").json()
        assert found["prototypes"][0]["rows"] == 6
        assert 8 < found["prototypes"][0]["typical"]["size"] < 12
        unknown = client.get("/classes/wasp")
        assert unknown.status_code == 404
        assert "there is no class 'wasp'; there are 'ant', 'bee/2'" in unknown.text
        refused = client.post("/learn", {"x": {"wings": 2}, "y": "ant"})
        assert refused.status_code == 422
        assert "wings" in refused.json()["detail"]


def test_a_mixture_finds_anomalies(tmp_path):
    def model():
        return CRPMixture({"a": "real", "b": "real"}, n_islands=1, n_particles=4, random_state=0)

    rng = np.random.default_rng(0)
    rows = [{"a": a, "b": b} for a, b in rng.normal(size=(40, 2)).tolist()]
    with serving(tmp_path, model) as client:
        assert client.post("/learn", {"rows": rows}).status_code == 200
        said = client.post("/predict", {"rows": [{"a": 0, "b": 0}, {"a": 50, "b": -50}]}).json()
        usual, strange = said["predictions"]
        assert strange["anomaly_score"] > usual["anomaly_score"]
        assert strange["log_density"] < usual["log_density"]
        assert client.get("/classes/all").json()["prototypes"]


@pytest.mark.parametrize("failing", ["write", "sync"])
def test_a_full_disk_refuses_learning_and_predictions_go_on(tmp_path, failing, monkeypatch):
    def full(*args, **more):
        raise OSError(28, "No space left on device")

    with serving(tmp_path) as client:
        client.post("/learn", {"rows": ROWS, "labels": LABELS})
        with monkeypatch.context() as patch:
            patch.setattr(disk, failing, full)
            answers = client.many(
                *[("POST", "/learn", {"json": {"x": "red apple", "y": "fruit"}})] * 3,
                ("POST", "/predict", {"json": {"x": "red apple"}}),
            )
            assert [a.status_code for a in answers] == [503, 503, 503, 200]
            assert answers[0].headers["retry-after"]
            assert "No space left" in answers[0].json()["detail"]
            assert client.get("/readyz").json() == {"ready": True, "learning": False}
            assert "infinimix_learning_refused 1" in client.get("/metrics").text


def test_figures_and_metrics_follow_the_stream(tmp_path):
    with serving(tmp_path) as client:
        client.post("/learn", {"rows": ROWS, "labels": LABELS})
        for x, y in zip(ROWS, LABELS, strict=True):
            client.post("/predict-then-learn", {"x": x, "y": y})
        figures = client.owner.figures
        assert figures.learned == 40
        assert figures.scored >= 20
        now = figures.tick()
        assert now["error"] == 0.0
        assert 0 < now["log_loss"] < 0.5
        assert figures.calibration()["bins"]
        text = client.get("/metrics").text
        assert "infinimix_rows_learned_total 40" in text
        assert 'infinimix_requests_total{route="/predict-then-learn",status="200"} 20' in text
        assert "red apple" not in text


def test_health_is_told_without_a_token_and_other_addresses_are_problems(tmp_path):
    with serving(tmp_path) as client:
        assert client.get("/healthz").json() == {"alive": True}
        assert client.get("/readyz").status_code == 200
        for answer, status in ((client.get("/nowhere"), 404), (client.get("/learn"), 405)):
            assert answer.status_code == status
            assert answer.headers["content-type"] == "application/problem+json"
    assert client.get("/healthz").status_code == 503
