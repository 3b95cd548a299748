"""Changed model files are refused by `load`, or what loads can be used: see `model_files`.

Each file is loaded in a process with a limit on time and memory. `INFINIMIX_SEEDS` tries thousands.
"""

import inspect
import os
import re

import pytest

from infinimix.estimators.persistence import KNOWN
from tests.contract.model_files import asking
from tests.contract.model_files.asking import CASES, saved
from tests.contract.model_files.running import FINE, REFUSED, judge, run

MUTANTS = 2000 if "INFINIMIX_SEEDS" in os.environ else 60
SLOW = ("aclass", "aclass stream", "mixture", "imputer", "regressor", "hybrid")  # to ask


def test_every_class_that_can_be_saved_is_changed():
    source = inspect.getsource(asking)
    assert set(KNOWN) <= set(re.findall(r"\b[A-Z]\w+(?=\()", source[source.index("CASES = {") :]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("name", CASES)
def test_what_loads_can_be_used(name):
    assert judge(name, saved(name))[0] == FINE
    n = MUTANTS // 5 if name in SLOW else MUTANTS
    outcomes = run(name, list(range(n)))
    wrong = [outcome for outcome in outcomes if outcome.kind not in (REFUSED, FINE)]
    assert wrong == []
    refused = [outcome for outcome in outcomes if outcome.kind == REFUSED]
    assert len(refused) > n / 3
    assert all(outcome.detail for outcome in refused)  # in words
