"""The plan that draws real weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from sklearn_pairboot._engine.dirichlet import DirichletSource
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot.resampling._whole import ClusterBootstrap, RowBootstrap


@dataclass(frozen=True)
class BayesianBootstrap:
    """Draw real weights of the rows, or of clusters, instead of how often each is drawn.

    The weights are Dirichlet(1, ..., 1) times the number of units. That is the posterior
    distribution of the probabilities of the observed units under the improper prior proportional
    to the product of their inverses [1]_, so each draw of the weights gives a draw of a metric
    from its posterior distribution. Percentile intervals are then credible intervals, and
    `ComparisonResult.practical_equivalence` gives posterior probabilities. The p-value is the
    two-sided tail share of the draws, not a test.

    All units keep a positive weight in every draw: no class is ever lost, and metrics are never
    undefined for that reason. Metrics and scorers must take real weights (``sample_weight``).

    Do not use it where an error rate is to be claimed, or where rare kinds of rows that were not
    seen matter: they have no probability under this posterior. The standard deviation of a mean
    is that of the bootstrap times sqrt(n / (n + 1)) for n units, so that its intervals are as
    optimistic with few units.

    References
    ----------
    .. [1] D. B. Rubin, The Bayesian bootstrap,
       Annals of Statistics 9 (1981).

    Examples
    --------
    >>> from sklearn_pairboot import compare_scores
    >>> from sklearn_pairboot.resampling import BayesianBootstrap
    >>> scores = {"old": [0, 1, 0, 0, 1, 1], "new": [1, 1, 1, 0, 0, 1]}
    >>> result = compare_scores(scores, resampling=BayesianBootstrap(), random_state=0)
    >>> row = result.practical_equivalence(margin=0.1)[0]
    >>> round(row.share_below, 1), round(row.share_within, 1), round(row.share_above, 1)
    (0.1, 0.2, 0.6)
    """

    def resampling_units(
        self, n_rows: int, *, y: NDArray[Any] | None = None, groups: Any = None
    ) -> Units:
        """Make rows, or groups of rows, units.

        Parameters
        ----------
        n_rows : int
            Number of test rows.
        y : ndarray of shape (n_rows,), default=None
            Not used.
        groups : array-like of shape (n_rows,), default=None
            Label of each row's cluster; ``None`` weighs rows.

        Returns
        -------
        Units
            The units.
        """
        plan = RowBootstrap() if groups is None else ClusterBootstrap()
        units = plan.resampling_units(n_rows, groups=groups)
        return replace(units, scheme=DirichletSource(units.n_units))
