"""What a result tells by its replicates: themselves, and posterior shares read off them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot.report.facts import Described
from sklearn_pairboot.report.practical import (
    PracticalEquivalenceRow,
    check_posterior,
    practical_equivalence,
)

_NO_REPLICATES = (
    "This result was read from JSON without replicates, so {} is not available. "
    "Write it with `to_json(replicates=True)` to keep them."
)
_NOT_JOINT = (
    "The distribution of each model and each difference was found by itself, by convolution, so "
    "there are no joint resamples, and {} is not available. Pass an integer `n_resamples`."
)


class Resampled(Described):
    """A result that may have its replicates at hand."""

    _distribution: BootstrapDistribution | None

    @property
    def replicates(self) -> NDArray[np.float64]:
        """Resampled values, shape (n_replicates, n_metrics, n_models), read-only."""
        replicates = self._require_joint("`replicates`").replicates
        replicates = replicates[:, : len(self.metrics)]
        replicates.flags.writeable = False
        return replicates

    @property
    def multiplicities(self) -> NDArray[Any] | None:
        """Sequences each replicate stands for if all were enumerated; otherwise ``None``."""
        counts = self._require_joint("`multiplicities`").multiplicities
        if counts is None:
            return None
        counts = counts.view()
        counts.flags.writeable = False
        return counts

    def practical_equivalence(
        self, margin: float | Mapping[str, float]
    ) -> tuple[PracticalEquivalenceRow, ...]:
        """
        Tell how probable it is, by the Bayesian bootstrap, that differences are negligible.

        Parameters
        ----------
        margin : float or mapping of str to float
            The smallest difference that would matter, in units of the metric, by metric where
            there are several. Differences of exactly the margin count as within.

        Returns
        -------
        tuple of PracticalEquivalenceRow
            For each metric that has a margin and each comparison the shares of the posterior draws
            below, within and above the margins. ``share_within`` is the Bayesian-bootstrap
            probability of practical equivalence. It is no error rate of a test: for that give
            ``margin=`` to a comparison by the bootstrap.
        """
        check_posterior(self.scheme)
        distribution = self._require_distribution("`practical_equivalence`")
        return practical_equivalence(distribution, self._facts, margin)

    def _require_joint(self, what: str) -> BootstrapDistribution:
        distribution = self._require_distribution(what)
        if not distribution.is_joint:
            raise ValueError(_NOT_JOINT.format(what))
        return distribution

    def _require_distribution(self, what: str) -> BootstrapDistribution:
        if self._distribution is None:
            raise ValueError(_NO_REPLICATES.format(what))
        return self._distribution
