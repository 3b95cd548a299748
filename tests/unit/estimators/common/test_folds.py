import numpy as np

from infinimix.estimators.common.folds import deal_evenly


def test_folds_hold_their_share_of_each_class():
    codes = np.repeat([0, 1, 2], [50, 20, 5])
    fold = deal_evenly(codes, 5, np.random.default_rng(1))
    for c, n in enumerate([10, 4, 1]):
        assert np.bincount(fold[codes == c], minlength=5).tolist() == [n] * 5
