"""`infinimix replay`: the log of a folder into its own model or another."""

import json

import numpy as np
import pytest

from infinimix import AClassClassifier, CRPMixture, OnlineCRPClassifier, load
from infinimix.streaming import DurableLearner
from tests.endtoend.command_files import invoke, refuse, run

COLUMNS = {"size": "real", "colour": "categorical"}
ROWS = [{"size": float(i % 7), "colour": "ab"[i % 2]} for i in range(20)]
LABELS = [("ant", "bee")[i % 2] for i in range(20)]


def make():
    return OnlineCRPClassifier(COLUMNS, random_state=0)


@pytest.fixture
def folder(tmp_path):
    with DurableLearner(make(), tmp_path / "state") as learner:
        for i in range(0, 20, 2):
            learner.learn(ROWS[i : i + 2], LABELS[i : i + 2])
    return tmp_path / "state"


def proba(model):
    return model.predict_proba(ROWS)


def test_the_log_is_learned_into_another_model(folder, tmp_path):
    run("replay", folder, "--model", "aclass", "-o", tmp_path / "a.imx")
    expected = AClassClassifier(COLUMNS, random_state=0)
    for i in range(0, 20, 2):
        expected.partial_fit(ROWS[i : i + 2], LABELS[i : i + 2])
    assert np.array_equal(proba(load(tmp_path / "a.imx")), proba(expected))
    run("replay", folder, "--model", "mixture", "--until", 4, "-o", tmp_path / "m.imx")
    mixture = CRPMixture(COLUMNS, random_state=0)
    for i in range(0, 8, 2):
        mixture.partial_fit(ROWS[i : i + 2])
    scores = load(tmp_path / "m.imx").score_samples(ROWS)
    assert np.array_equal(scores, mixture.score_samples(ROWS))


def test_the_model_of_the_folder_is_restored_up_to_a_record(folder, tmp_path):
    done = run("replay", folder, "--until", 7, "-o", tmp_path / "own.imx", "--json")
    told = json.loads(done.stdout)
    assert (told["model"], told["rows"], told["last"]) == ("OnlineCRPClassifier", 14, 7)
    expected = make()
    for i in range(0, 14, 2):
        expected.partial_fit(ROWS[i : i + 2], LABELS[i : i + 2])
    assert np.array_equal(proba(load(tmp_path / "own.imx")), proba(expected))


def test_what_the_message_about_damage_says_works(folder, tmp_path):
    (log,) = folder.glob("records-*")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:5], b"junk\n", *lines[6:]]))
    line = refuse("replay", folder, "-o", tmp_path / "own.imx")
    assert "record 6" in line
    assert f"infinimix replay {folder} --until 5 -o MODEL.imx" in line
    assert "The first 10 rows" in line
    run("replay", folder, "--until", 5, "-o", tmp_path / "own.imx")
    with DurableLearner(load(tmp_path / "own.imx"), tmp_path / "next") as learner:
        learner.learn(ROWS[10:], LABELS[10:])
        assert learner.n_rows == 10
    line = refuse("replay", folder, "-m", "aclass", "-o", tmp_path / "own.imx")
    assert "add --until 5" in line


def test_what_cannot_be_replayed_is_said_in_a_line(folder, tmp_path):
    out = ("-o", tmp_path / "x.imx")
    assert "there is no folder" in refuse("replay", tmp_path / "none", *out)
    assert "holds no model" in refuse("replay", tmp_path, *out)
    assert "none of aclass, online-crp, mixture" in refuse("replay", folder, "-m", "svm", *out)
    assert "ends with record 10" in refuse("replay", folder, "-m", "mixture", "--until", 11, *out)
    assert "only 10 of 11 records" in refuse("replay", folder, "--until", 11, *out)
    with DurableLearner(CRPMixture(COLUMNS, random_state=0), tmp_path / "m") as learner:
        learner.learn(ROWS)
    line = refuse("replay", tmp_path / "m", "-m", "aclass", *out)
    assert "no labels; take --model mixture" in line
    with DurableLearner(OnlineCRPClassifier("text"), tmp_path / "t") as learner:
        learner.learn(["two words", "more words"], ["a", "b"])
    assert "does not read words" in refuse("replay", tmp_path / "t", "-m", "aclass", *out)
    run("replay", tmp_path / "t", "-m", "online-crp", *out)


def test_a_log_that_does_not_begin_with_record_1_is_told(folder, tmp_path):
    (log,) = folder.glob("records-*")
    lines = log.read_bytes().splitlines(keepends=True)
    log.unlink()
    (folder / "records-000000000004.jsonl").write_bytes(b"".join(lines[3:]))
    done = invoke("replay", folder, "-m", "mixture", "-o", tmp_path / "x.imx")
    assert done.exit_code == 0
    assert "the log begins with record 4" in done.stderr
