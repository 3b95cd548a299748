"""Records of several requests, and records that name a class: learned once, replayed in order."""

import pytest

from infinimix import OnlineCRPClassifier
from infinimix.streaming import DurabilityError, DurableLearner, Receipt, disk, relearning
from infinimix.streaming.journal import seal
from infinimix.streaming.plain import to_json
from infinimix.streaming.recovery import restore
from infinimix.streaming.replaying import read_log
from infinimix.streaming.requests import RowsRequest
from tests.unit.streaming.lossy import LossyDisk
from tests.unit.streaming.test_power import ROWS, make, saved, whole  # noqa: F401

TEXTS = ["red apple", "green apple", "red pear", "fast car", "slow car"] * 4
LABELS = (["fruit"] * 3 + ["car"] * 2) * 4
NEW = ["oboe solo", "oboe and harp"]


def open_world():
    return OnlineCRPClassifier(open_world=True, random_state=0)


def learn_new(learner):
    """Let a model meet a class without a name; return its number."""
    learner.partial_fit(TEXTS, LABELS)
    learner.partial_fit(NEW, [None, None])
    model = getattr(learner, "model", learner)
    return model.provisional_classes()[0].number


def test_requests_share_a_record_and_each_keeps_its_receipt(whole, tmp_path):  # noqa: F811
    requests = [
        RowsRequest(ROWS[1:2], request_id="a"),
        RowsRequest(ROWS[2:4]),
        RowsRequest(ROWS[1:2], request_id="a"),  # sent twice before it was answered
        RowsRequest(ROWS[4:6], request_id="b"),
    ]
    with DurableLearner(make(), tmp_path, fsync="group") as learner:
        learner.learn([ROWS[0]], request_id="first")
        found = learner.learn_together([*requests, RowsRequest(ROWS[:1], request_id="first")])
        assert found == [
            Receipt(2, 1, False), Receipt(2, 2, False), Receipt(2, 1, True), Receipt(2, 2, False),
            Receipt(1, 1, True),
        ]  # fmt: skip
        assert (learner.sequence, learner.n_rows) == (2, 6)
        assert learner.learn(ROWS[4:6], request_id="b") == Receipt(2, 2, True)
        assert learner.learn_together(requests[:1]) == [Receipt(2, 1, True)]  # no record at all
        assert learner.sequence == 2
    for _ in range(2):  # from the log, then from the sidecar
        with DurableLearner(make(), tmp_path) as learner:
            assert saved(learner.model) == whole[6]
            assert learner.learn_together(requests[::3]) == [
                Receipt(2, 1, True), Receipt(2, 2, True),
            ]  # fmt: skip
            learner.snapshot()


def test_requests_that_are_refused_together_leave_nothing(whole, tmp_path):  # noqa: F811
    with DurableLearner(make(), tmp_path) as learner:
        learner.learn([ROWS[0]])
        bad = RowsRequest([{"p": float("inf")}], request_id="bad")
        with pytest.raises(ValueError, match="infinite"):
            learner.learn_together([RowsRequest(ROWS[1:2], request_id="good"), bad])
        assert (learner.sequence, learner.n_rows) == (1, 1)
        assert not learner.learn_together([RowsRequest(ROWS[1:2], request_id="good")])[0].repeated
    with DurableLearner(make(), tmp_path) as learner:
        assert saved(learner.model) == whole[2]


@pytest.mark.parametrize("fsync", ["always", "group"])
def test_a_name_survives_a_power_failure_right_after_it(fsync, tmp_path, monkeypatch):
    lossy, expected = LossyDisk(monkeypatch), open_world()
    number = learn_new(expected)
    expected.name_class(number, "music")
    with DurableLearner(open_world(), tmp_path / "live", fsync=fsync) as learner:
        assert learn_new(learner) == number
        assert learner.name_class(number, "music") == Receipt(3, 0, False)
        learner.flush()
        folder = lossy.fail(tmp_path / "left")
    monkeypatch.undo()
    with DurableLearner(open_world(), folder) as again:
        assert (again.n_rows, again.sequence) == (22, 3)
        assert again.recovered.snapshot_rows == 20  # the name comes from the log
        assert saved(again.model) == saved(expected)
        assert again.predict(["harp"]).tolist() == ["music"]


def test_names_and_rows_are_replayed_in_their_order(tmp_path):
    expected = open_world()
    with DurableLearner(open_world(), tmp_path) as learner:
        for one in (learner, expected):
            number = learn_new(one)
            one.name_class(number, "music")
            one.partial_fit(["harp and viola", "fast boat"], ["music", "car"])
            one.partial_fit(["quark", "quark and gluon"], [None, None])
            waiting = getattr(one, "model", one).provisional_classes()
            one.name_class(waiting[0].number, "music")  # joins a class that is there
    with DurableLearner(open_world(), tmp_path) as again:
        assert saved(again.model) == saved(expected)
        assert again.n_rows == 26
    records = list(read_log(tmp_path))  # rows alone: another model has classes of its own
    assert [len(one.X) for one in records] == [20, 2, 2, 2]
    assert records[-1].sequence == 5


def test_a_name_that_is_refused_is_in_no_log(tmp_path, monkeypatch):
    with DurableLearner(open_world(), tmp_path) as learner:
        with pytest.raises(ValueError, match="no provisional class 0"):
            learner.name_class(0, "music")
        number = learn_new(learner)
        for wrong in ((number + 9, "music"), (number, 7)):
            with pytest.raises((ValueError, TypeError)):
                learner.name_class(*wrong)
        with monkeypatch.context() as patch:
            patch.setattr(disk, "write", _full)
            with pytest.raises(DurabilityError, match="nothing was learned"):
                learner.name_class(number, "music")
        assert learner.sequence == 2
        assert "music" not in learner.classes_
        learner.name_class(number, "music")
    with DurableLearner(open_world(), tmp_path) as again:
        assert "music" in again.classes_


def test_models_without_provisional_classes_name_none(tmp_path):
    with DurableLearner(make(), tmp_path) as learner:
        learner.learn([ROWS[0]])
        with pytest.raises(ValueError, match="no provisional class"):
            learner.name_class(0, "music")


def _full(*args):
    raise OSError(28, "No space left on device")


def learn_singles(folder, n=30):
    """Learn texts one a record, some without a label; return the model."""
    with DurableLearner(open_world(), folder, snapshot_every=1000) as learner:
        for i in range(n):
            learner.learn([TEXTS[i % 20]], [LABELS[i % 20] if i % 7 else None], request_id=f"r{i}")
        return learner.model


@pytest.mark.parametrize("together", [1000, 4])
def test_texts_are_learned_again_in_few_calls_to_the_same_bits(tmp_path, monkeypatch, together):
    expected = learn_singles(tmp_path)
    calls, fit = [], OnlineCRPClassifier.partial_fit
    monkeypatch.setattr(relearning, "TOGETHER", together)
    monkeypatch.setattr(
        OnlineCRPClassifier,
        "partial_fit",
        lambda self, X, y: calls.append(len(X)) or fit(self, X, y),
    )
    with DurableLearner(open_world(), tmp_path) as again:
        assert calls == ([29] if together > 29 else [4] * 7 + [1])
        assert (again.n_rows, again.sequence) == (30, 30)
        assert again.learn(["new"], ["car"], request_id="r17") == Receipt(18, 1, True)
        monkeypatch.undo()
        assert saved(again.model) == saved(expected)
    assert saved(restore(tmp_path, 1, until=17).model) == saved(learn_singles(tmp_path / "b", 17))


def test_a_text_that_is_refused_is_found_among_those_learned_together(tmp_path):
    expected = learn_singles(tmp_path)
    path = tmp_path / "records-000000000001.jsonl"
    data = path.read_bytes()
    bad = seal(31, to_json(["red car"], ["fruit", "car"], row=30, ack=30))
    path.write_bytes(data + bad)
    with DurableLearner(open_world(), tmp_path) as again:  # the crash came before it was undone
        assert again.recovered.bytes_cut == len(bad)
        assert saved(again.model) == saved(expected)
    path.write_bytes(data + bad + seal(32, to_json(["red car"], ["car"], row=30, ack=31)))
    with pytest.raises(DurabilityError, match="record 31 in .* cannot be learned"):
        DurableLearner(open_world(), tmp_path)
