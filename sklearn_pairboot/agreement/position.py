"""Position bias: the same items judged in both orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.kernels import item_means
from sklearn_pairboot._tables.lines import wrapped
from sklearn_pairboot.agreement._estimates import (
    Estimate,
    Resampling,
    check_items,
    check_zero_or_one,
    notes_on_width,
)


@dataclass(frozen=True)
class PositionBias:
    """Outcome of `position_bias`.

    Parameters
    ----------
    chosen_first : Estimate
        Share of the items in which A is chosen when it comes first.
    chosen_second : Estimate
        Share of the items in which A is chosen when it comes second.
    gap : Estimate
        The first less the second, paired by item: 0 where the order does not matter.
    inconsistent : Estimate
        Share of the items whose verdict changes with the order.
    human_agreement : Estimate or None
        Share of the consistent items on which the human makes the same choice; ``None`` without
        human choices.
    attributes : dict of str to Estimate
        For each attribute, the share of the consistent items in which the chosen answer is the
        one that has more of it.
    consistent : ndarray of shape (n_items,), bool
        Items with the same verdict in both orders.
    n_items : int
        Number of items.
    n_consistent : int
        Number of consistent ones.
    unit : {"items", "clusters"}
        What was resampled.
    n_units : int
        Number of items or clusters.

    Examples
    --------
    >>> from sklearn_pairboot.agreement import position_bias
    >>> position_bias([1, 1, 1, 0], [1, 0, 0, 0], random_state=0).gap.value
    0.5
    """

    chosen_first: Estimate
    chosen_second: Estimate
    gap: Estimate
    inconsistent: Estimate
    human_agreement: Estimate | None
    attributes: dict[str, Estimate]
    consistent: NDArray[np.bool_] = field(repr=False)
    n_items: int
    n_consistent: int
    unit: str
    n_units: int

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """
        Say in words what was found, and what swapping the order does not mend.

        Returns
        -------
        str
            A sentence for each number, in lines of 88 characters.
        """
        lines = [
            f"A is chosen in {self.chosen_first} of the items when it comes first, and in "
            f"{self.chosen_second} when it comes second: a gap of {self.gap}.",
            f"The verdict changes with the order in {self.inconsistent} of {self.n_items} items; "
            f"{self.n_consistent} are consistent.",
        ]
        if self.human_agreement is not None:
            lines.append(f"On these the human makes the same choice in {self.human_agreement}.")
        lines += [
            f"Among them the answer with more of {name} is chosen in {share}."
            for name, share in self.attributes.items()
        ]
        lines.append(
            "Counting only verdicts that hold in both orders removes the bias by position, and no "
            "other: a taste for length, for the judge's own style or for words of the rubric is "
            "the same in both orders, and may weigh more in what is left. Control for these "
            "separately."
        )
        estimates = {
            "A chosen first": self.chosen_first,
            "A chosen second": self.chosen_second,
            "the gap": self.gap,
            "inconsistent verdicts": self.inconsistent,
            "agreement with the human": self.human_agreement,
            **self.attributes,
        }
        lines += notes_on_width(estimates, self.unit)
        lines.append(f"Intervals resample {self.n_units} {self.unit}.")
        return "\n".join(line for text in lines for line in wrapped(text))


def position_bias(
    chose_a_first: Any,
    chose_a_second: Any,
    *,
    human: Any = None,
    attributes: Mapping[str, Any] | None = None,
    groups: Any = None,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> PositionBias:
    """Tell whether a judge of two answers prefers the one that it reads first.

    Every item, a pair of answers A and B, is judged twice: with A first and with B first. The gap
    between the two rates of choosing A is what the order does. Only a verdict that is the same
    both times can be about the answers.

    Parameters
    ----------
    chose_a_first : array-like of shape (n_items,)
        1 where the judge chose A when A came first, 0 where it chose B.
    chose_a_second : array-like of shape (n_items,)
        1 where the judge chose A when A came second, for the same items in the same order.
    human : array-like of shape (n_items,), default=None
        1 where a human chose A.
    attributes : mapping of str to array-like of shape (n_items,), default=None
        For each attribute, 1 where A has more of it than B, such as ``{"length": ...}``. They
        show biases that swapping the order leaves.
    groups : array-like of shape (n_items,), default=None
        Cluster of each item; whole clusters are then resampled.
    n_resamples : int, default=9999
        Number of bootstrap resamples.
    confidence_level : float, default=0.95
        Level of the percentile intervals, in (0, 1).
    random_state : int, Generator, RandomState or None, default=None
        Seed of the resampling.

    Returns
    -------
    PositionBias
        With ``chosen_first``, ``chosen_second``, ``gap``, ``inconsistent``, ``human_agreement``,
        ``attributes``, ``consistent``, ``n_items``, ``n_consistent``, ``unit`` and ``n_units``.

    See Also
    --------
    judge_agreement : Agreement of a judge with humans.

    Notes
    -----
    To use the judge afterwards, count only what is chosen in both orders, and the rest as ties,
    or average over both orders. Shares among the consistent items are undefined in resamples
    without any; these are left out and counted.

    The method removes one bias and keeps the others. In a simulation in which a judge favours
    the first answer and the longer one, the consistent verdicts favour the longer answer more
    than single verdicts do.

    Examples
    --------
    >>> from sklearn_pairboot.agreement import position_bias
    >>> found = position_bias([1, 1, 1, 0, 1], [1, 0, 1, 0, 0], random_state=0)
    >>> found.gap.value, found.inconsistent.value, found.n_consistent
    (0.4, 0.4, 3)
    """
    given = dict(attributes or {})
    named = {"`chose_a_first`": chose_a_first, "`chose_a_second`": chose_a_second}
    if human is not None:
        named["`human`"] = human
    named |= {f"`attributes[{name!r}]`": values for name, values in given.items()}
    arrays = check_items(named, groups)
    n_items = len(arrays["`chose_a_first`"])
    resampling = Resampling.of(n_items, groups, n_resamples, confidence_level, random_state)
    choices = {
        name: check_zero_or_one(array, name, _meaning(name)) for name, array in arrays.items()
    }
    first, second = choices.pop("`chose_a_first`"), choices.pop("`chose_a_second`")
    consistent = first == second
    columns = np.column_stack([second, first, ~consistent])
    shares = resampling.draw(item_means(columns, np.ones(n_items), resampling.units))
    # Among the consistent items, whose number varies from resample to resample.
    weight = consistent.astype(np.float64)
    among = {}
    for name, choice in choices.items():
        same = (first == choice).astype(np.float64)[:, None]
        among[name] = resampling.draw(item_means(same, weight, resampling.units)).value()
    agreed = among.pop("`human`", None)
    return PositionBias(
        chosen_first=shares.value(1),
        chosen_second=shares.value(0),
        gap=shares.difference(1, 0),
        inconsistent=shares.value(2),
        human_agreement=agreed,
        attributes=dict(zip(given, among.values(), strict=True)),
        consistent=consistent,
        n_items=n_items,
        n_consistent=int(np.count_nonzero(consistent)),
        unit=resampling.unit,
        n_units=resampling.units.n_units,
    )


def _meaning(name: str) -> str:
    return "A has more of it" if name.startswith("`attributes") else "A was chosen"
