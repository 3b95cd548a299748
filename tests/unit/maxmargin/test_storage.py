"""Files of this room that were tampered with are refused, in words."""

import io

import numpy as np
import pytest

import infinimix
from infinimix import DPMeans, GibbsInfiniteSVC, MaxMarginDPMeans
from infinimix.artifacts import ArtifactError
from tests.unit.maxmargin.synthetic import turned_rules
from tests.unit.saved_models import edited, put, saved

X, Y, _ = turned_rules(60, 0)


FILES = {
    "means": saved(DPMeans(random_state=0).fit(X)),
    "margin": saved(MaxMarginDPMeans(lam=50.0, s=1.0, random_state=0).fit(X, Y)),
    "chain": saved(GibbsInfiniteSVC(n_iter=12, burn_in=4, random_state=0).fit(X, Y)),
}


EDITS = [
    ("means", put("fitted", "cluster_means_", lambda v: v[:, :1]), "divergence"),
    ("means", put("fitted", "labels_", lambda v: v + 99), "clusters that are not there"),
    ("means", put("fitted", "lam_", "x"), "lam_ is no number"),
    ("means", put("parameters", "lam", -1.0), "'lam' parameter"),
    ("means", put("divergence", lambda v: ("cosine", *v[1:])), "divergence"),
    ("margin", put("fitted", "_eta", lambda v: v[:, :, :-1]), "fit"),
    ("margin", put("fitted", "_eta", lambda v: np.full_like(v, np.nan)), "not finite"),
    ("margin", put("fitted", "cluster_sizes_", lambda v: v[:-1]), "does not fit"),
    ("margin", put("labels", [0, 1, 2]), "does not fit"),
    ("margin", put("labels", None), "labels"),
    ("chain", put("kept", "sizes", lambda v: 0.0 * v), "without rows"),
    ("chain", put("kept", "owner", lambda v: v[::-1] + 1), "in order"),
    ("chain", put("counts", lambda v: [v[0][:-1]]), "statistics"),
    ("chain", put("base", lambda v: [[v[0][0][:, :1]]]), "base measure"),
    ("chain", put("traces", {}), "no complete"),
    ("chain", put("hyper", "alpha", 0.0), "out of range"),
    ("chain", put("hyper", "c", "1"), "c is no number"),
    ("chain", put("burn_in", 12), "out of range"),
    ("chain", put("traces", "n_clusters", lambda v: v + 2.0**31), "n_clusters is out of range"),
    ("chain", put("rows", lambda v: v - 99), "labels_ is out of range"),
    ("margin", put("parameters", "nu", 1e-300), "'nu' parameter"),
    ("margin", put("fitted", "_eta", lambda v: v + 1e300), "out of range"),
]


@pytest.mark.parametrize(("name", "edit", "words"), EDITS)
def test_what_does_not_fit_is_refused(name, edit, words):
    with pytest.raises(ArtifactError, match=words):
        infinimix.load(edited(FILES[name], edit))


def test_a_chain_comes_back():
    model = infinimix.load(io.BytesIO(FILES["chain"]))
    again = GibbsInfiniteSVC(n_iter=12, burn_in=4, random_state=0).fit(X, Y)
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
    assert model.effective_sample_size_ == again.effective_sample_size_


def test_a_chain_of_before_has_its_settings_among_the_parameters():
    settings = {}

    def older(tree):
        settings.update({name: tree.pop(name) for name in ("hyper", "burn_in")})

    again = infinimix.load(edited(FILES["chain"], older))
    model = infinimix.load(io.BytesIO(FILES["chain"]))
    assert again._state.hyper._asdict() == settings["hyper"]
    assert again.effective_sample_size_ == model.effective_sample_size_
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_parameters_set_after_the_fit_of_a_chain_change_no_answer():
    model = infinimix.load(io.BytesIO(FILES["chain"]))
    before = model.predict_proba(X), model.effective_sample_size_, model.n_clusters_posterior_
    model.set_params(alpha=9.0, c=0.1, margin=3.0, nu=0.2, burn_in=9, n_samples=1)
    for one in (model, infinimix.load(io.BytesIO(saved(model)))):
        assert np.array_equal(one.predict_proba(X), before[0])
        assert one.effective_sample_size_ == before[1]
        assert np.array_equal(one.n_clusters_posterior_, before[2])
