"""`as_published()` of every model that has it: what its paper has, and what the caller changes."""

import inspect

import pytest

import infinimix
from infinimix import (
    AClassClassifier,
    BlockmodelBayesNet,
    CRPMixture,
    FiniteMixtureClassifier,
    GibbsInfiniteSVC,
    MaxMarginDPMeans,
    MaxMarginDPMeansCV,
    OnlineCRPClassifier,
)

# A parameter to change, and one that the paper decides.
CASES = {
    AClassClassifier: ({"n_particles": 1}, {"calibrate": False}),
    BlockmodelBayesNet: ({"prior": "ordered"}, {"n_best": 100, "n_chains": 10}),
    CRPMixture: ({"n_particles": 10}, {"resampling": "multinomial"}),
    FiniteMixtureClassifier: ({"bins": 3}, {"estimate": "map"}),
    GibbsInfiniteSVC: ({"c": 0.5}, {"fit_intercept": False}),
    MaxMarginDPMeans: ({"lam": 150.0, "s": 0.01, "c": 2.5}, {"multi_class": "crammer-singer"}),
    MaxMarginDPMeansCV: ({"cs": [1.0]}, {"multi_class": "crammer-singer", "cv": 5}),
    OnlineCRPClassifier: ({"alpha_rule": "posterior"}, {"refine": 0.0}),
}


def test_every_model_with_a_published_form_is_here():
    public = [getattr(infinimix, name) for name in infinimix.__all__]
    found = {one for one in public if inspect.isclass(one) and hasattr(one, "as_published")}
    assert found == {*CASES}


@pytest.mark.parametrize("cls", CASES, ids=lambda cls: cls.__name__)
def test_changes_differ_from_the_published_form_and_the_rest_is_as_it_is_there(cls):
    changes, decided = CASES[cls]
    published, changed = cls.as_published(), cls.as_published(**changes)
    assert type(changed) is cls
    assert published.get_params().items() >= decided.items()
    assert changed.get_params() == published.get_params() | changes


@pytest.mark.parametrize("cls", CASES, ids=lambda cls: cls.__name__)
def test_what_the_paper_decides_may_be_changed_too(cls):
    _, decided = CASES[cls]
    default = cls().get_params()
    own = {name: default[name] for name in decided}
    assert cls.as_published(**own).get_params().items() >= own.items()


@pytest.mark.parametrize("cls", CASES, ids=lambda cls: cls.__name__)
def test_the_documentation_of_the_class_says_what_the_form_is(cls):
    text = inspect.getdoc(cls) + inspect.getdoc(cls.as_published)
    assert "the paper's own form" in text or "`as_published()` is" in text


def test_the_clusters_of_the_paper_s_sampler_may_be_given_otherwise():
    known = GibbsInfiniteSVC.as_published(variance=4.0, kappa=2.0).cluster_prior["real"]
    assert (known[1], known[3]) == (2.0, 2.0)
    assert GibbsInfiniteSVC.as_published(cluster_prior="reference").cluster_prior == "reference"
