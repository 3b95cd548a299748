"""Methods that models of several rooms have in one form: `PublishedForm` and `DensityScore`.

A model with a `PublishedForm` says in its parameters `_published` what its paper has, and in the
notes of its class what the paper leaves open; one with a `DensityScore` has `score_samples`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np

Model = TypeVar("Model", bound="PublishedForm")


class PublishedForm:
    """A model that can be made as the paper has it that describes it."""

    _published: ClassVar[Mapping[str, Any]]  # parameters that are not the default there

    @classmethod
    def as_published(cls: type[Model], **changes: Any) -> Model:
        """Return the model in the form of its paper, which the notes of the class describe.

        Parameters
        ----------
        changes : parameters
            Those that shall differ from the published ones.

        Examples
        --------
        >>> from infinimix import BlockmodelBayesNet
        >>> BlockmodelBayesNet.as_published(prior="ordered").n_best
        100
        """
        return cls(**{**cls._published, **changes})


class DensityScore:
    """A model that gives a row a density, and is scored by it."""

    score_samples: Any  # the log density of each row of a table

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples`, the mean log predictive density of the rows.

        Parameters
        ----------
        X : table
            The rows.
        y : ignored
            For pipelines.
        """
        return float(np.mean(self.score_samples(X)))
