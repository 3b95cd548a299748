"""What a model can be asked is asked of the model, not of its class."""

from sklearn.linear_model import SGDClassifier

from infinimix import AClassClassifier, MaxMarginDPMeans, OnlineCRPClassifier
from infinimix.evaluation import abilities
from infinimix.evaluation.abilities import able

X, Y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]


def test_parameters_decide_what_a_model_can():
    hinge, logistic = (SGDClassifier(loss=loss).fit(X, Y) for loss in ("hinge", "log_loss"))
    assert able(hinge, abilities.Classified)
    assert not able(hinge, abilities.Classifying)
    assert able(logistic, abilities.Classifying)


def test_what_is_learned_is_there_when_it_is_learned():
    model = AClassClassifier(effort="fast", random_state=0)
    assert able(model, abilities.LearnsTables)
    assert not able(model, abilities.Classified)
    model.fit(X, Y)
    for ability in (abilities.Classifying, abilities.Prototyping, abilities.KnowsRelevance):
        assert able(model, ability)


def test_classes_can_be_asked_as_well():
    assert able(AClassClassifier, abilities.AnswersBatches)
    assert not able(OnlineCRPClassifier, abilities.AnswersBatches)
    assert not able(MaxMarginDPMeans, abilities.Explaining)
    assert able(OnlineCRPClassifier, abilities.NoticesNewClasses)


def test_an_ability_that_builds_on_another_asks_for_both():
    class Half:
        def predict_proba(self, X):
            return X

    assert not able(Half(), abilities.Classifying)
    whole = Half()
    whole.classes_ = [0]
    assert able(whole, abilities.Classifying)
