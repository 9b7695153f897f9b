"""Agreement of a judge with a human, against chance and against a second human."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, cohen_kappa_score, make_scorer

from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.checks import check_choice
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot._tables.lines import wrapped
from sklearn_pairboot.agreement._estimates import (
    Estimate,
    Resampling,
    check_items,
    notes_on_width,
)

_JUDGE, _HUMAN = 0, 1


@dataclass(frozen=True)
class JudgeAgreement:
    """Outcome of `judge_agreement`.

    Parameters
    ----------
    agreement : Estimate
        Share of the items on which judge and human give the same label.
    chance : float
        Share that would agree if both kept their own rates of each label but nothing else.
    kappa : Estimate
        Agreement beyond chance: 0 at that level, 1 where all agree.
    human_agreement : Estimate or None
        Agreement of the second human with the first; ``None`` without one.
    human_kappa : Estimate or None
        Kappa of the two humans.
    agreement_difference : Estimate or None
        Agreement of the judge less that of the second human, on the same items.
    kappa_difference : Estimate or None
        The same for kappa.
    n_items : int
        Number of items.
    unit : {"items", "clusters"}
        What was resampled.
    n_units : int
        Number of items or clusters.

    Examples
    --------
    >>> from sklearn_pairboot.agreement import judge_agreement
    >>> always_a = judge_agreement(["A"] * 10, ["A"] * 9 + ["B"], random_state=0)
    >>> always_a.agreement.value, always_a.chance, always_a.kappa.value
    (0.9, 0.9, 0.0)
    """

    agreement: Estimate
    chance: float
    kappa: Estimate
    human_agreement: Estimate | None
    human_kappa: Estimate | None
    agreement_difference: Estimate | None
    kappa_difference: Estimate | None
    n_items: int
    unit: str
    n_units: int

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """
        Say in words what was found.

        Returns
        -------
        str
            Agreement, chance, kappa, and how they compare with two humans where that is known.
        """
        lines = [
            f"Judge and human agree on {self.agreement} of {self.n_items} items. Rates alone would "
            f"give {self.chance:.3f}; beyond that, kappa = {self.kappa}.",
        ]
        if self.human_agreement is None or self.agreement_difference is None:
            lines.append(
                "How well two humans agree on these items is not known, so a high agreement cannot "
                "be told from an easy set of items."
            )
        else:
            lines.append(
                f"Two humans agree on {self.human_agreement} (kappa {self.human_kappa}). Judge "
                f"less second human: {self.agreement_difference}."
            )
        estimates = {
            "agreement": self.agreement,
            "kappa": self.kappa,
            "agreement of two humans": self.human_agreement,
            "kappa of two humans": self.human_kappa,
            "the difference in agreement": self.agreement_difference,
            "the difference in kappa": self.kappa_difference,
        }
        lines += notes_on_width(estimates, self.unit)
        lines.append(f"Intervals resample {self.n_units} {self.unit}; the labels are held fixed.")
        return "\n".join(line for text in lines for line in wrapped(text))


def judge_agreement(
    judge: Any,
    human: Any,
    *,
    second_human: Any = None,
    weights: str | None = None,
    groups: Any = None,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> JudgeAgreement:
    """Tell how far a judge agrees with a human, beyond chance and beside a second human.

    It estimates the share of equal labels, and Cohen's kappa, on the population that the items,
    or their clusters, were drawn from. Agreement alone is no measure of a judge: where 90 % of
    the items are "A", a judge that always says "A" agrees on 90 %, and its kappa is 0.

    Parameters
    ----------
    judge : array-like of shape (n_items,)
        Labels of the judge, such as the preferred answer or a rating.
    human : array-like of shape (n_items,)
        Labels of a human for the same items in the same order.
    second_human : array-like of shape (n_items,), default=None
        Labels of another human. Without them agreement cannot be compared with what humans reach.
    weights : {"linear", "quadratic"} or None, default=None
        Weights of kappa for ordered labels, as in `sklearn.metrics.cohen_kappa_score`: how much
        a disagreement counts grows with the number of steps between them among the sorted labels
        that occur, whatever their values. Agreement is not weighted. Words are refused.
    groups : array-like of shape (n_items,), default=None
        Cluster of each item, such as the prompt template it was made from. With it whole clusters
        are resampled; without it intervals are too narrow where items resemble each other.
    n_resamples : int, default=9999
        Number of bootstrap resamples.
    confidence_level : float, default=0.95
        Level of the percentile intervals, in (0, 1).
    random_state : int, Generator, RandomState or None, default=None
        Seed of the resampling.

    Returns
    -------
    JudgeAgreement
        With ``agreement``, ``chance``, ``kappa``, ``human_agreement``, ``human_kappa``,
        ``agreement_difference``, ``kappa_difference``, ``n_items``, ``unit`` and ``n_units``.

    See Also
    --------
    position_bias : Whether a judge prefers what it reads first.
    sklearn_pairboot.compare_predictions : Compare several judges, with
        ``scoring=make_scorer(cohen_kappa_score)``.

    Notes
    -----
    Kappa is (agreement - chance) / (1 - chance) [1]_. It is undefined where both give one and the
    same label throughout; such resamples are left out and counted. Human labels are no truth:
    two annotators who are each right on 80 % of two-way items, independently, agree on 68 %.
    Averaging over several judges makes their verdicts steadier, but keeps what biases all of
    them.

    References
    ----------
    .. [1] J. Cohen (1960). "A coefficient of agreement for nominal scales". Educational and
       Psychological Measurement 20, 37-46.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.agreement import judge_agreement
    >>> human = np.repeat([0, 0, 1, 1], [40, 10, 10, 40])
    >>> judge = np.repeat([0, 1, 0, 1], [40, 10, 10, 40])
    >>> found = judge_agreement(judge, human, random_state=0)
    >>> found.agreement.value, found.chance, round(found.kappa.value, 3)
    (0.8, 0.5, 0.6)
    """
    if weights is not None:
        check_choice("weights", weights, ("linear", "quadratic"))
    named = {"`judge`": judge, "`human`": human}
    if second_human is not None:
        named["`second_human`"] = second_human
    arrays = check_items(named, groups)
    truth = arrays.pop("`human`")
    resampling = Resampling.of(len(truth), groups, n_resamples, confidence_level, random_state)
    raters = tuple(arrays.values())
    _check_kinds(arrays, truth)
    if weights is not None and truth.dtype.kind in "OUS":
        raise ValueError(
            f"`weights` must be None for labels that are words, got {weights!r}: their order is "
            "not known. Pass numbers in the order of the labels."
        )
    records = tuple(RecordedEstimator.from_arrays(predict=labels) for labels in raters)
    kind = "binary" if len(np.unique(truth)) <= 2 else "multiclass"
    problem = Problem(truth, kind, records, resampling.units)
    kappa = make_scorer(cohen_kappa_score, weights=weights)
    metrics = resolve_scoring({"agreement": make_scorer(accuracy_score), "kappa": kappa})
    models = ("judge", "second human")[: len(raters)]
    agreement, kappas = (
        resampling.draw(build_kernel(metric, problem, models)) for metric in metrics
    )
    both = len(raters) > 1
    return JudgeAgreement(
        agreement=agreement.value(_JUDGE),
        chance=_chance(raters[_JUDGE], truth),
        kappa=kappas.value(_JUDGE),
        human_agreement=agreement.value(_HUMAN) if both else None,
        human_kappa=kappas.value(_HUMAN) if both else None,
        agreement_difference=agreement.difference(_JUDGE, _HUMAN) if both else None,
        kappa_difference=kappas.difference(_JUDGE, _HUMAN) if both else None,
        n_items=len(truth),
        unit=resampling.unit,
        n_units=resampling.units.n_units,
    )


def _check_kinds(arrays: dict[str, NDArray[Any]], truth: NDArray[Any]) -> None:
    """Refuse words on one side and numbers on the other, which never agree."""
    for name, labels in arrays.items():
        if (labels.dtype.kind in "OUS") != (truth.dtype.kind in "OUS"):
            raise ValueError(
                f"{name} must hold labels of the same kind as `human`, got {labels.dtype} and "
                f"{truth.dtype}. Words and numbers never agree."
            )


def _chance(first: NDArray[Any], second: NDArray[Any]) -> float:
    labels = np.unique(np.concatenate([first, second]))
    pairs = ((first == label).mean() * (second == label).mean() for label in labels)
    return float(sum(pairs))
