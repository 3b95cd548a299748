"""Other people's classifiers, to compare with: scikit-learn's, on the same folds.

Numbers are standardised and categories one-hot encoded in each training part; missing cells are
filled with means, and an indicator says where. Texts are tf-idf weighted words.
"""

from __future__ import annotations

from typing import Any

from infinimix.cli.tasks import Task

NAMES = ("logistic-regression", "random-forest")
MOST_WORDS = 20_000
TREES = 300  # of a forest


def make_baseline(name: str, task: Task, seed: int) -> Any:
    """Return an unfitted classifier of the rows of a task."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    from infinimix.cli.numbers import OnNumbers

    weight = task.recipe.options.get("class_weight")
    if task.recipe.text is not None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = TfidfVectorizer(max_features=MOST_WORDS)
        return make_pipeline(words, _classifier(name, seed, weight))
    filled = SimpleImputer(add_indicator=True, keep_empty_features=True)
    kinds = {info.name: info.kind for info in task.infos}
    return OnNumbers(make_pipeline(filled, _classifier(name, seed, weight)), kinds, rare="join")


def _classifier(name: str, seed: int, weight: Any) -> Any:
    if name == "logistic-regression":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1000, class_weight=weight)
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=TREES, random_state=seed, class_weight=weight)
