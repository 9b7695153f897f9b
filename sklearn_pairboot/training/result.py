"""What a comparison of methods found: estimates for every target, and where variance comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn_pairboot._engine.components import Components, Layout
from sklearn_pairboot._engine.seeds import is_integer
from sklearn_pairboot.plotting import VarianceSharesDisplay
from sklearn_pairboot.report import storage
from sklearn_pairboot.report.html import fragment, page
from sklearn_pairboot.report.latex import as_latex
from sklearn_pairboot.training import _frames, _page, _report, _storage


@dataclass(frozen=True)
class TargetEstimate:
    """Uncertainty of one target, by one method.

    Parameters
    ----------
    std_error : float
        Standard error.
    ci_low : float
        Lower end of the confidence interval.
    ci_high : float
        Upper end of the confidence interval.
    p_value : float
        Of "the difference is zero", two-sided; it inverts the interval. NaN for scores, and where
        nothing varies.
    variant : str
        ``"variance components"``, ``"generalized pivot"``, ``"pooled"``,
        ``"crossed bootstrap"`` or ``"test rows only"``.
    df : float, default=nan
        Satterthwaite's degrees of freedom of variance components; NaN for the others.

    Examples
    --------
    >>> from sklearn_pairboot import compare_runs
    >>> result = compare_runs({"m": [[1, 0, 1, 1], [1, 1, 1, 0]]}, random_state=0)
    >>> result.scores[0].average.variant
    'variance components'
    """

    std_error: float
    ci_low: float
    ci_high: float
    p_value: float
    variant: str
    df: float = math.nan


@dataclass(frozen=True)
class VarianceShare:
    """One source of variance of a method's average.

    Parameters
    ----------
    source : str
        ``"training data"``, ``"seed"``, ``"test rows"`` (or ``"test clusters"``), or two of them
        joined by ``" x "``: how far one acts differently for each value of the other.
    variance : float
        The component itself: variance of the score of a single fit that comes from a single
        training set, seed, or test row or cluster. Negative estimates are set to zero.
    contribution : float
        Its part in the squared standard error of the average.
    share : float
        That part as a share of the whole, NaN where nothing varies.
    share_low : float
        Lower end of the confidence interval of the share.
    share_high : float
        Upper end of the confidence interval of the share.

    Examples
    --------
    >>> from sklearn_pairboot import compare_runs
    >>> result = compare_runs({"m": [[1, 0, 1, 1], [1, 1, 1, 0]]}, random_state=0)
    >>> [part.source for part in result.scores[0].variances]
    ['seed', 'test rows', 'seed x test rows']
    """

    source: str
    variance: float
    contribution: float
    share: float
    share_low: float
    share_high: float


@dataclass(frozen=True)
class MethodEstimate:
    """Score of one method, or its difference from the baseline, in one metric.

    Parameters
    ----------
    metric : str
        The metric, in its natural units.
    model : str
        The method.
    baseline : str or None
        The method it is compared with; ``None`` for a score.
    estimate : float
        Mean over the fits, training sets counting equally.
    greater_is_better : bool
        Direction of the metric.
    average : TargetEstimate
        Target "the method's average": variance components and Student's t; where training sets
        were resampled and have several seeds, their generalized pivot.
    one_model : TargetEstimate
        Target "one model drawn from the method": the pooled distribution over all fits.
    crossed : TargetEstimate
        The method's average again, by the crossed bootstrap, which counts interactions about
        three times and shrinks the variance of K seeds by (K - 1) / K.
    test_rows_only : TargetEstimate
        These very fits on other test rows: all that a bootstrap of a test set answers for.
    variances : tuple of VarianceShare
        Sources of the variance of the average.
    p_adjusted : float
        P-value of the average, adjusted for the other methods; NaN for scores.
    verdict : str
        ``"better"``, ``"worse"`` or ``"inconclusive"``, of the average at the adjusted p-value;
        empty for scores.
    n_undefined : int
        Resamples of test rows in which the metric of some fit was undefined.
    components : Components
        What `predict_std_error` computes with.

    Examples
    --------
    >>> from sklearn_pairboot import compare_runs
    >>> a, b = [[1, 0, 1, 1], [1, 1, 1, 0]], [[0, 0, 1, 1], [0, 1, 0, 0]]
    >>> row = compare_runs({"b": b, "a": a}, n_resamples="exact").differences[0]
    >>> row.estimate, row.one_model.ci_low, row.one_model.ci_high
    (0.375, 0.0, 1.0)
    """

    metric: str
    model: str
    baseline: str | None
    estimate: float
    greater_is_better: bool
    average: TargetEstimate
    one_model: TargetEstimate
    crossed: TargetEstimate
    test_rows_only: TargetEstimate
    variances: tuple[VarianceShare, ...]
    p_adjusted: float
    verdict: str
    n_undefined: int
    components: Components = field(repr=False, compare=False)

    def predict_std_error(
        self,
        *,
        n_sets: int | None = None,
        n_seeds: int | None = None,
        n_items: int | None = None,
    ) -> float:
        """
        Predict the standard error of the average for other numbers.

        Parameters
        ----------
        n_sets : int, default=None
            Number of training sets, ``None`` for as many as there were.
        n_seeds : int, default=None
            Number of seeds, of each training set where there are several.
        n_items : int, default=None
            Number of test rows, or of test clusters where these are the units.

        Returns
        -------
        float
            The standard error that the estimated components lead to. It is as uncertain as they
            are.
        """
        for name, value in (("n_sets", n_sets), ("n_seeds", n_seeds), ("n_items", n_items)):
            if value is not None and not is_integer(value, least=1):
                raise ValueError(f"`{name}` must be an integer of at least 1, got {value!r}.")
        sources = {part.source for part in self.variances}
        if n_sets is not None and "seed" in sources and "training data" not in sources:
            raise ValueError(
                f"`n_sets` must be None where only one training set was used, got {n_sets!r}: its "
                "variation was not seen."
            )
        if n_seeds is not None and "seed" not in sources:
            raise ValueError(
                f"`n_seeds` must be None where seeds were not varied apart from training sets, got "
                f"{n_seeds!r}."
            )
        sets, within, units = self.components.mean_squares.layout
        if "training data" not in sources and "seed" in sources:
            n_sets, n_seeds = n_seeds, None
        layout = Layout(n_sets or sets, n_seeds or within, n_items or units)
        return self.components.std_error(layout)

    def to_dict(self) -> dict[str, Any]:
        """
        Return the row as plain Python values.

        Returns
        -------
        dict
            Undefined numbers are NaN.
        """
        found: dict[str, Any] = _storage.plain(self)
        return found


@dataclass(frozen=True)
class MethodComparison:
    """Comparison of methods that were fitted several times.

    `compare_methods` and `compare_runs` make it.

    Parameters
    ----------
    scores : tuple of MethodEstimate
        Score of every method in every metric.
    differences : tuple of MethodEstimate
        Difference of every other method from the baseline, in natural units of the metric.
    models : tuple of str
        The methods.
    baseline : str
        The one that the others are compared with.
    n_sets : int
        Number of training sets.
    n_seeds : float
        Number of fits for each training set, the harmonic mean where fits failed.
    n_units : int
        Number of test rows or clusters.
    unit : str
        ``"rows"`` or ``"clusters"``.
    resampled_training : bool
        Whether the training sets were resampled from one training sample.
    n_resamples : int or "exact"
        Bootstrap resamples of test rows or clusters.
    confidence_level : float
        Level of all intervals.
    correction : str or None
        Adjustment of p-values for the number of methods.
    random_state_entropy : int or None
        Seed that repeats the comparison.
    training : dict
        Record of what was trained and tested; empty for tables of scores.
    notes : tuple of str
        What a reader must know, failed fits among it.
    versions : dict
        Software that computed it.

    Examples
    --------
    >>> from sklearn_pairboot import compare_runs
    >>> a, b = [[1, 0, 1, 1], [1, 1, 1, 0]], [[0, 0, 1, 1], [0, 1, 0, 0]]
    >>> result = compare_runs({"b": b, "a": a}, n_resamples="exact")
    >>> result.n_seeds, result.n_units, result.differences[0].verdict
    (2.0, 4, 'inconclusive')
    """

    scores: tuple[MethodEstimate, ...]
    differences: tuple[MethodEstimate, ...]
    models: tuple[str, ...]
    baseline: str
    n_sets: int
    n_seeds: float
    n_units: int
    unit: str
    resampled_training: bool
    n_resamples: int | str
    confidence_level: float
    correction: str | None
    random_state_entropy: int | None
    training: Mapping[str, Any]
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    def summary(self) -> str:
        """
        Say in words what was found, about which target, and what varies.

        Returns
        -------
        str
            Several lines of text.
        """
        return _report.summary(self)

    def __str__(self) -> str:
        return self.summary()

    def plot(
        self, ax: Any = None, *, which: str | None = None, metric: str | None = None
    ) -> VarianceSharesDisplay:
        """
        Draw where the variance of the averages comes from.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` makes a figure.
        which : {"differences", "scores"} or None, default=None
            Differences from the baseline, or scores; ``None`` is the differences where there are
            several methods.
        metric : str or None, default=None
            Name of the metric; ``None`` where there is only one.

        Returns
        -------
        VarianceSharesDisplay
            The display, with its axes in ``ax_`` and its numbers in ``frame()``.
        """
        return VarianceSharesDisplay.from_result(self, which=which, metric=metric).plot(ax)

    def to_dict(self) -> dict[str, Any]:
        """
        Return the result as nested dictionaries, lists and plain Python values.

        Returns
        -------
        dict
            Undefined numbers are NaN.
        """
        return _storage.dump(self)

    def to_json(self) -> str:
        """
        Write the result as JSON.

        Returns
        -------
        str
            Undefined numbers are ``null``.
        """
        return storage.to_json(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> MethodComparison:
        """
        Read a result that `to_json` has written.

        Parameters
        ----------
        text : str
            The JSON text.

        Returns
        -------
        MethodComparison
            Equal to the one written.
        """
        data = storage.from_json(text, _storage.FORMAT)
        with storage.damage_named():
            return _storage.load(cls, data)

    def to_markdown(self) -> str:
        """
        Write the result as GitHub-flavoured markdown.

        Returns
        -------
        str
            The contents of `summary` with headings, lists and tables.
        """
        return _report.markdown(self)

    def to_html(self) -> str:
        """
        Write the result as a web page that needs nothing else.

        Returns
        -------
        str
            An HTML document with the contents of `summary`, and with the shares of the variance
            drawn where matplotlib is installed.
        """
        return page(_page.document(self), *_page.figures(self))

    def _repr_html_(self) -> str:
        """Show the result in a notebook."""
        return fragment(_page.document(self))

    def to_latex(self, label: str = "methods") -> str:
        """
        Write the tables as LaTeX.

        Parameters
        ----------
        label : str, default="methods"
            The tables have the labels ``tab:<label>-1``, ``tab:<label>-2`` and so on.

        Returns
        -------
        str
            Tables in the style of the package booktabs.
        """
        return as_latex(_page.document(self), label)

    def to_frame(self, which: str = "differences", backend: Any = None) -> Any:
        """
        Return one of the tables as a dataframe.

        Parameters
        ----------
        which : {"differences", "scores", "variances"}, default="differences"
            The table. Estimates have one row for each target, of which the average has the
            adjusted p-value and the verdict; variances one for each source.
        backend : {"pandas", "polars", "pyarrow"}, module or None, default=None
            Kind of dataframe, or anything that ``narwhals.from_dict`` takes. ``None`` means the
            first of the three that is installed.

        Returns
        -------
        dataframe
            One row for each row of the table.
        """
        return _frames.frame(self, which, backend)
