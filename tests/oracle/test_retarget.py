"""A bank of mixtures whose base measure follows the stream, against enumeration."""

import numpy as np
import pytest

from infinimix.families.base_measures import STRENGTH
from infinimix.families.given import resolve_prior
from infinimix.families.priors import Layout
from infinimix.families.seam import map_arrays
from infinimix.inference.ensemble.bank import Bank, Settings
from tests.oracle.enumeration import Enumeration, bell
from tests.oracle.worlds import WORLDS, N

KINDS = ("binary", "categorical", "real", "count")
COARSE = {"coarse": "real", "coarse-spiked": "spiked"}  # worlds and their kinds
WHOLE = ("slots", "mass", "groups", "particles", "logw", "counters", "u")


def serially(task, payloads):
    return [task(payload) for payload in payloads]


def columns_of(name):
    name = name.removesuffix("-holes")
    return KINDS if name == "product" else (COARSE.get(name, name),)


def resolutions_of(name):
    """The resolutions that the worlds of rounded numbers have."""
    kind = COARSE.get(name.removesuffix("-holes"))
    return {} if kind is None else {f"{kind}0": 1.0, f"{kind}1": 0.5}


def by_appearance(X, kinds):
    """Number the categories as a stream does, by first appearance; say which cells are new."""
    blocks, novel = list(X), []
    if "categorical" in kinds:
        at = kinds.index("categorical")
        codes = X[at].copy()
        known = [{} for _ in range(codes.shape[1])]
        for i, row in enumerate(X[at].tolist()):
            for d, c in enumerate(row):
                if c >= 0:
                    if c not in known[d]:
                        known[d][c] = len(known[d])
                        novel.append((i, d))
                    codes[i, d] = known[d][c]
        blocks[at] = codes
    return tuple(blocks), novel


def new_bank(X, kinds, known=0, resolutions=None, **changes):
    """A bank for blocks of these kinds; of each categorical column `known` are declared."""
    names = {
        kind: tuple(f"{kind}{d}" for d in range(x.shape[1]))
        for kind, x in zip(kinds, X, strict=True)
    }
    counts = np.full(len(names.get("categorical", ())), known)
    settings = Settings(0.8, "empirical", bell(N), 1, "optimal", None, 0)._replace(**changes)
    by_column = {name: kind for kind, members in names.items() for name in members}
    settings = settings._replace(prior=resolve_prior(settings.prior, by_column))
    layout = Layout(names, counts, resolutions or {})
    return Bank(settings, layout, np.random.SeedSequence(5))


def feed(bank, X, codes, novel, step):
    """Learn a stream in portions of `step` rows; a class opens with the portion it is in."""
    for a in range(0, len(codes), step):
        part, b = codes[a : a + step], min(a + step, len(codes))
        while len(bank.classes) <= part.max():
            bank.add_class()
        inside = [(i - a, d) for i, d in novel if a <= i < b]
        bank.learn(tuple(x[a:b] for x in X), part, inside, serially)
    return bank


def assert_exact(bank, X, codes, Y):
    """Evidence and predictive of each class are those under the latest base measure."""
    bound, alpha = bank.settings.max_groups, bank.settings.alpha
    found, densities = bank.log_evidence(), bank.log_densities(Y)
    for c in range(len(bank.classes)):
        rows = tuple(x[codes == c] for x in X)
        truth = Enumeration(bank.family, rows, alpha, bound)
        assert found[c] == pytest.approx(truth.log_evidence, abs=1e-6)
        np.testing.assert_allclose(densities[:, c], truth.log_predictive(Y), atol=1e-6)


def empirical(kind, x):
    """The documented empirical prior of a column, from its observed cells."""
    x = x[x >= 0] if kind in ("binary", "categorical") else x[~np.isnan(x)]
    if kind == "spiked":
        share, rest = (np.isposinf(x).sum() + 0.5) / (len(x) + 1.0), x[np.isfinite(x)]
        return np.append(empirical("real", rest), [0.5 * (1.0 - share), 0.5 * share])
    if kind == "binary":
        share = (x.sum() + 0.5) / (len(x) + 1.0)
        return 0.5 * np.array([1.0 - share, share])
    if kind == "count":
        return np.array([1.0, (len(x) + 0.5) / (x.sum() + 0.5)])
    if kind == "gaussian":
        return np.array([x.mean(), 0.1, 3.0, 3.0 * 0.15 * x.var()])
    return np.array([x.mean(), 0.3, 2.0, 0.15 * x.var()])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("name", WORLDS)
def test_a_stream_ends_at_the_posterior_of_its_latest_base_measure(name, n):
    kinds, world = columns_of(name), WORLDS[name]
    X, novel = by_appearance(tuple(x[:n] for x in world.X), kinds)
    codes = np.zeros(n, np.int64)
    bank = feed(new_bank(X, kinds, resolutions=resolutions_of(name)), X, codes, novel, n)
    if name in COARSE:
        np.testing.assert_allclose(bank.family[0].grain, world.families[0].grain)
    Y = tuple(
        np.where(y < 0, y, 0) if k == "categorical" else y
        for k, y in zip(kinds, world.Y, strict=True)
    )
    assert_exact(bank, X, codes, tuple(map(np.ascontiguousarray, Y)))


OTHERS = ["reference", {"binary": (2.0, 0.3), "real1": (1.0, 1, 2, 3), "count0": (3, 0.2)}]


@pytest.mark.parametrize("prior", OTHERS)
def test_other_priors_end_there_too(prior):
    world = WORLDS["product-holes"]
    X, novel = by_appearance(world.X, KINDS)
    codes = np.zeros(N, np.int64)
    bank = feed(new_bank(X, KINDS, prior=prior), X, codes, novel, N)
    assert_exact(bank, X, codes, tuple(x[:3] for x in X))
    if prior != "reference":
        assert (bank.family[0].prior[:, 0] == [0.3, 2.0]).all()
        assert bank.family[2].prior[:, 1].tolist() == [1.0, 1.0, 2.0, 9.0]
        assert bank.family[3].prior[:, 0].tolist() == [3.0, 0.2]


def test_categories_that_turn_up_late():
    """New ones at rows 0, 2, 5 and 6: with a re-estimate, between two, and twice in a row."""
    codes = np.array([[0, 0], [0, 0], [0, 1], [0, -1], [0, 1], [1, 2], [2, 3]], np.int32)
    X, novel = by_appearance((codes,), ("categorical",))
    assert [i for i, _ in novel] == [0, 0, 2, 5, 5, 6, 6]
    label = np.zeros(N, np.int64)
    bank = feed(new_bank(X, ("categorical",)), X, label, novel, N)
    assert bank.layout.category_counts.tolist() == [3, 4]
    counts = np.array([[4, 0, 0], [2, 1, 0]]) + 0.5  # of the first four rows
    first = STRENGTH["categorical"] * counts[0] / counts[0].sum()
    assert bank.family[0].prior[:3] == pytest.approx(first)
    assert_exact(bank, X, label, X)


@pytest.mark.parametrize("max_groups", [1, 2])
def test_under_a_bound(max_groups):
    world = WORLDS["product-holes"]
    X, novel = by_appearance(world.X, KINDS)
    codes = np.zeros(N, np.int64)
    bank = feed(new_bank(X, KINDS, max_groups=max_groups), X, codes, novel, N)
    assert_exact(bank, X, codes, X)


def test_classes_share_the_base_measure():
    world = WORLDS["product-holes"]
    X, novel = by_appearance(world.X, KINDS)
    codes = np.array([0, 1, 0, 1, 2, 0, 1])
    bank = feed(new_bank(X, KINDS), X, codes, novel, N)
    for block, kind, family in zip(X, KINDS, bank.family, strict=True):
        if kind != "categorical":
            for d in range(block.shape[1]):
                expected = empirical(kind, block[:4, d].astype(float))
                np.testing.assert_allclose(family.prior[:, d], expected, rtol=1e-12)
    assert_exact(bank, X, codes, X)


FITTED = [
    *("binary-holes", "categorical", "real", "count"),
    *("spiked-holes", "gaussian-holes", "product-holes"),
]


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.parametrize("max_groups", [None, 2])
def test_fit_ends_at_the_posterior(name, max_groups):
    """`fit` sees the whole table first, and takes its rows in another order."""
    kinds, world = columns_of(name), WORLDS[name]
    codes = np.array([0, 1, 0, 0, 0, 1, 0])
    bank = new_bank(world.X, kinds, known=3, max_groups=max_groups, n_islands=2)
    bank.fit(world.X, codes, 2, serially)
    assert_exact(bank, world.X, codes, world.Y)
    for block, kind, family in zip(world.X, kinds, bank.family, strict=True):
        if kind != "categorical":
            expected = empirical(kind, block[:, 0].astype(float))
            np.testing.assert_allclose(family.prior[: len(expected), 0], expected, rtol=1e-12)


def test_a_stream_after_fit_goes_on():
    world, codes = WORLDS["product"], np.zeros(N, np.int64)
    bank = new_bank(world.X, KINDS, known=3)
    bank.fit(tuple(x[:5] for x in world.X), codes[:5], 1, serially)
    feed(bank, tuple(x[5:] for x in world.X), codes[5:], [], 1)
    assert_exact(bank, world.X, codes, world.Y)


def test_at_the_bound_no_group_can_open_however_odd_the_row():
    """One group of zeros, a row of ones: 1,663 nats speak for a new group, in vain."""
    zeros = (np.zeros((3, 1200), np.int8),)
    bank = new_bank(zeros, ("binary",), n_particles=4, max_groups=1, prior="reference")
    bank.fit(zeros, np.zeros(3, np.int64), 1, serially)
    ones = (np.ones((1, 1200), np.int8),)
    assert bank.log_densities(ones)[0, 0] == pytest.approx(1200 * np.log(0.5 / 4.0), rel=1e-12)


# --- any cutting of a stream does the same -------------------------------------------------------


def long_stream(n=70):
    """Mixed columns with holes; categories and classes keep turning up."""
    rng = np.random.default_rng(8)
    z = rng.integers(0, 4, n)
    B = (rng.random((n, 3)) < rng.beta(0.5, 0.5, (4, 3))[z]).astype(np.int8)
    C = np.minimum(rng.geometric(0.4, (n, 2)) - 1, np.arange(n)[:, None] // 5).astype(np.int32)
    R = rng.normal(size=(n, 2)) + 3.0 * z[:, None]
    P = rng.poisson(1.0 + 6.0 * z[:, None], (n, 2)).astype(float)
    for block in (B, C, R, P):
        block[rng.random(block.shape) < 0.2] = np.nan if block.dtype.kind == "f" else -1
    X, novel = by_appearance((B, C, R, P), KINDS)
    return X, np.minimum(rng.integers(0, 3, n), np.arange(n) // 9), novel


@pytest.mark.parametrize("resampling", ["optimal", "multinomial", "systematic"])
@pytest.mark.parametrize("max_groups", [None, 3])
def test_any_cutting_leaves_the_same_bits(resampling, max_groups):
    X, codes, novel = long_stream()

    def learned(step):
        bank = new_bank(
            X, KINDS, resampling=resampling, max_groups=max_groups, n_particles=6, n_islands=2
        )
        return feed(bank, X, codes, novel, step)

    banks = [learned(step) for step in (1, 2, 3, 70)]
    densities = [bank.log_densities(X) for bank in banks]
    for bank, density in zip(banks[1:], densities[1:], strict=True):
        assert bank.n_rows == banks[0].n_rows == 70
        assert (density == densities[0]).all()
        assert_same_bits(bank.pool, banks[0].pool)
        assert_same_bits(bank.family, banks[0].family)
        for f, g in zip(bank.filters(), banks[0].filters(), strict=True):
            for field in WHOLE:
                np.testing.assert_array_equal(getattr(f, field), getattr(g, field), field)
            assert_same_bits(f.stats, g.stats)
            assert f.rng.bit_generator.state == g.rng.bit_generator.state


def assert_same_bits(a, b):
    map_arrays(np.testing.assert_array_equal, a, b)
