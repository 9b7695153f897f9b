"""What a result tells about the order of its models: ranks, and which may be the best."""

from __future__ import annotations

from sklearn_pairboot.report.confidence_set import ModelConfidenceSet, model_confidence_set
from sklearn_pairboot.report.ranks import RankDistribution, rank_distribution
from sklearn_pairboot.report.resampled import Resampled


class OrderOfModels(Resampled):
    """What the joint resamples of a result tell about the order of its models."""

    def rank_distribution(self, best: int = 1) -> RankDistribution:
        """
        Tell how often each model has each rank.

        Parameters
        ----------
        best : int, default=1
            Number of models that count as the best ones.

        Returns
        -------
        RankDistribution
            Shares of the resamples. They say how steady the order of these models is on rows
            like these, not how probable it is that a model is the best.
        """
        distribution = self._require_joint("`rank_distribution`")
        return rank_distribution(distribution, self.models, self._facts.metrics, best)

    def model_confidence_set(
        self, metric: str | None = None, confidence_level: float | None = None
    ) -> ModelConfidenceSet:
        """
        Find the models that these data cannot tell from the best one.

        Models are eliminated one by one, the clearly worst first, until a test no longer shows a
        difference among the rest (Hansen, Lunde and Nason 2011, statistic T_R).

        Parameters
        ----------
        metric : str or None, default=None
            Name of the metric; ``None`` where there is only one.
        confidence_level : float or None, default=None
            Level of the set; ``None`` is that of the intervals.

        Returns
        -------
        ModelConfidenceSet
            For each model its p-value and whether it is in the set. The set contains the best
            model with at least this probability over repeated samples, asymptotically; it is no
            probability of any single model.

        References
        ----------
        P. R. Hansen, A. Lunde and J. M. Nason (2011). The model confidence set. Econometrica
        79(2), 453-497.
        """
        return model_confidence_set(
            self._require_joint("`model_confidence_set`"),
            self.models,
            self._facts.metrics,
            metric,
            self.confidence_level if confidence_level is None else confidence_level,
        )
