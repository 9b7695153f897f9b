"""The result of a comparison: both tables, the joint replicates, and ways to show and keep them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.intervals import check_alpha
from sklearn_pairboot._engine.permutation import SwapTests
from sklearn_pairboot._tables import (
    PLAIN,
    MetricInfo,
    MonteCarloRow,
    Settings,
    SlicePart,
    Tables,
    build_tables,
    check_crossed_method,
    check_method_of_scheme,
    check_settings,
    check_unpaired_method,
    monte_carlo_rows,
    plain_margin,
)
from sklearn_pairboot.report import storage
from sklearn_pairboot.report.facts import Facts
from sklearn_pairboot.report.findings import crossed
from sklearn_pairboot.report.order import OrderOfModels
from sklearn_pairboot.report.permutations import permutation_rows
from sklearn_pairboot.report.shown import Shown
from sklearn_pairboot.report.split_tests import SplitScores, split_test_rows
from sklearn_pairboot.report.versions import installed_versions

_UNCHANGED: Any = object()


class ComparisonResult(Shown, OrderOfModels):
    """Scores of models, their differences from a baseline, and what these rows can tell.

    Comparisons such as `compare_scores` return it; it is not made by hand. ``print(result)``
    shows everything a reader needs: a sentence for each comparison, both tables, the
    resampling unit and what is held fixed. A result does not change: `replace` gives a new one
    from the same resamples.

    Parameters
    ----------
    distribution : BootstrapDistribution or None
        Joint replicates of every metric and model; ``None`` if only `tables` are left of it.
    models : sequence of str
        Names of the models.
    metrics : sequence of MetricInfo
        Name, direction and path of each metric.
    settings : Settings
        How the replicates are read.
    unit : str
        What is drawn: ``"rows"``, ``"clusters"``, or blocks of rows.
    n_units : int
        Number of rows or clusters to draw from, or of blocks that make up a resample.
    n_rows : int
        Number of test rows.
    unit_sizes : tuple of (min, median, max)
        Rows per unit.
    n_resamples : int or "exact"
        Number of resamples; ``"exact"`` if all of them were taken.
    stratified : bool, default=False
        Whether units were drawn within strata.
    weighted : bool, default=False
        Whether the scores are weighted.
    estimand : {"rows", "clusters"}, default="rows"
        What counts the same in a score.
    factors : sequence of (str, int), default=()
        Names and numbers of levels of two crossed factors.
    paired : bool, default=True
        Whether all models were evaluated on the same resamples.
    exact_by : {"enumeration", "convolution"} or None, default=None
        How all resamples were taken, where there is no `distribution` to tell.
    random_state_entropy : int or None, default=None
        Seed that repeats the draws.
    notes : sequence of str, default=()
        What is to be known about the input; notes on the numbers are added.
    versions : mapping or None, default=None
        Versions of the software; ``None`` asks for those installed.
    held_fixed : str, default="the trained models"
        What the resamples do not vary.
    scheme : str, default="bootstrap"
        How weights are drawn; the default stands for counts of whole units.
    tables : Tables or None, default=None
        Both tables; ``None`` reads them off the `distribution`.
    n_sequences : int or None, default=None
        Number of resamples or, of an enumeration, of equally likely sequences, where there is no
        `distribution` to tell.
    permutation_tests : mapping or None, default=None
        Permutation tests by the names of metric, model and baseline.
    monte_carlo : sequence of MonteCarloRow or None, default=None
        Monte Carlo errors of both tables; ``None`` finds them from the `distribution`.
    slice_parts : sequence of SlicePart, default=()
        Metrics in subgroups, which follow the `metrics` in the `distribution`.
    split_scores : SplitScores or None, default=None
        Scores on the splits that models were trained on, for the corrected resampled t test.

    See Also
    --------
    sklearn_pairboot.compare_scores : Compare models by their scores of single items.

    Notes
    -----
    The tables are `scores`, `differences`, `slices`, `permutations` and `monte_carlo`;
    `rank_distribution`, `model_confidence_set` and `practical_equivalence` read more off the
    replicates.

    ``difference`` is model minus baseline in the metric's natural units: a loss is shown as a loss,
    and a negative difference of it is an improvement, as the verdict says. ``std_error`` is the
    standard deviation of the replicates, or with the methods ``"studentized"`` and ``"t"`` the
    one that follows from the influence of the units, except for differences adjusted by max-T
    and for two crossed factors. Intervals and ``p_value`` are those of a
    single comparison unless the correction is max-T; the verdict follows ``p_adjusted``, whose
    family are all comparisons of one metric or of all. "Inconclusive" does not mean that
    models are equal: the interval says how large a gap is still possible.
    Rows of calibration errors have the status "biased", no interval and no p-value: the debiased
    square beside them judges the models; see `squared_calibration_error` for its standard error.
    ``p_permutation`` is NaN unless asked for; it tests more than equal metrics, namely that models
    are exchangeable, and decides no verdict.

    Examples
    --------
    >>> from sklearn_pairboot import compare_scores
    >>> scores = {"old": [0, 1, 0, 0, 1], "new": [1, 1, 1, 0, 0]}
    >>> result = compare_scores(scores, n_resamples="exact")
    >>> row = result.differences[0]
    >>> row.model, row.baseline, round(row.difference, 3), row["verdict"]
    ('new', 'old', 0.2, 'inconclusive')
    >>> result.replace(baseline="new", confidence_level=0.9).differences[0].model
    'old'
    """

    def __init__(
        self,
        *,
        distribution: BootstrapDistribution | None,
        models: Sequence[str],
        metrics: Sequence[MetricInfo],
        settings: Settings,
        unit: str,
        n_units: int,
        n_rows: int,
        unit_sizes: Sequence[float],
        n_resamples: int | str,
        stratified: bool = False,
        weighted: bool = False,
        estimand: str = "rows",
        factors: Sequence[Sequence[Any]] = (),
        paired: bool = True,
        exact_by: str | None = None,
        random_state_entropy: int | None = None,
        notes: Sequence[str] = (),
        versions: Mapping[str, str] | None = None,
        held_fixed: str = "the trained models",
        scheme: str = PLAIN,
        tables: Tables | None = None,
        n_sequences: int | None = None,
        permutation_tests: SwapTests | None = None,
        monte_carlo: Sequence[MonteCarloRow] | None = None,
        slice_parts: Sequence[SlicePart] = (),
        split_scores: SplitScores | None = None,
    ) -> None:
        tests = dict(permutation_tests or {})
        if distribution is not None:
            n_sequences = distribution.n_sequences
            exact_by = "enumeration" if distribution.is_joint else "convolution"
            tables = tables or build_tables(
                distribution, models, metrics, settings, tests, slice_parts
            )
        if tables is None or n_sequences is None:
            raise ValueError("`tables` and `n_sequences` must be given without a `distribution`.")
        low, middle, high = (storage.plain(size) for size in unit_sizes)
        settings = dataclasses.replace(settings, confidence_level=float(settings.confidence_level))
        self._distribution = distribution
        self._tables = tables
        self._permutation_tests = tests
        known = monte_carlo is not None or distribution is None
        self._monte_carlo = tuple(monte_carlo or ()) if known else None
        self._slice_parts = tuple(slice_parts)
        self._split_scores = split_scores
        self._input_notes = tuple(str(note) for note in notes)
        self._versions = dict(installed_versions() if versions is None else versions)
        self._facts = Facts(
            models=tuple(str(model) for model in models),
            metrics=tuple(metrics),
            settings=settings,
            unit=unit,
            n_units=int(n_units),
            n_rows=int(n_rows),
            unit_sizes=(low, middle, high),
            n_resamples=n_resamples if isinstance(n_resamples, str) else int(n_resamples),
            n_sequences=int(n_sequences),
            held_fixed=held_fixed,
            scheme=scheme,
            stratified=bool(stratified),
            weighted=bool(weighted),
            estimand=estimand,
            factors=tuple((str(name), int(levels)) for name, levels in factors),
            paired=bool(paired),
            exact_by=exact_by if n_resamples == "exact" else None,
            random_state_entropy=storage.plain(random_state_entropy),
            notes=self._input_notes + tables.notes,
            permutations=permutation_rows(tests, tables.differences, settings),
            slices=tables.slices,
            split_tests=split_test_rows(
                split_scores,
                tuple(str(model) for model in models),
                [(metric.name, metric.greater_is_better) for metric in metrics],
                settings,
            ),
        )

    @property
    def monte_carlo(self) -> tuple[MonteCarloRow, ...]:
        """Monte Carlo standard errors: one row for each score, then for each difference.

        They say how far interval ends and p-values would differ with other seeds, and fall with
        the square root of ``n_resamples``; zero if all resamples were enumerated.
        They are found from 32 balanced half-samples of the resamples, and so known within an
        eighth to a quarter of themselves.
        """
        if self._monte_carlo is None:
            facts = self._facts
            self._monte_carlo = monte_carlo_rows(
                self._require_distribution("`monte_carlo`"),
                facts.models,
                facts.metrics,
                facts.settings,
                self._tables,
                self._slice_parts,
            )
        return self._monte_carlo

    @property
    def versions(self) -> dict[str, str]:
        """Versions of Python and the packages that computed the result."""
        return dict(self._versions)

    def __repr__(self) -> str:
        facts = self._facts
        size = crossed(facts) or f"{facts.n_units} {facts.unit}"
        return (
            f"<ComparisonResult: models {list(facts.models)}, metrics {list(self.metrics)}, "
            f"baseline {facts.settings.baseline!r}, {facts.n_resamples} resamples of {size}>"
        )

    def to_dict(self, replicates: bool = False) -> dict[str, Any]:
        """
        Return the result as nested dictionaries, lists and plain Python values.

        Parameters
        ----------
        replicates : bool, default=False
            Whether to include the replicates and what else `replace` needs.

        Returns
        -------
        dict
            Undefined numbers are NaN, open ends of intervals infinite.
        """
        facts = self._facts
        return {
            "format": storage.FORMAT,
            "format_version": storage.FORMAT_VERSION,
            **{name: storage.plain(getattr(facts, name)) for name in storage.AS_IT_IS},
            "metrics": [dataclasses.asdict(metric) for metric in facts.metrics],
            **dataclasses.asdict(facts.settings),
            "n_sequences": facts.n_sequences,
            "random_state_entropy": facts.random_state_entropy,
            "scores": [row.asdict() for row in self.scores],
            "differences": [row.asdict() for row in self.differences],
            "monte_carlo": [row.asdict() for row in self.monte_carlo],
            "slices": [row.asdict() for row in self.slices],
            "slice_parts": [dataclasses.asdict(part) for part in self._slice_parts],
            "permutation_tests": storage.dump_tests(self._permutation_tests),
            "split_scores": None if self._split_scores is None else self._split_scores.to_dict(),
            "notes": {"input": list(self._input_notes), "numbers": list(self._tables.notes)},
            "versions": self.versions,
            "distribution": (
                storage.dump(
                    self._require_distribution("a dictionary with replicates"),
                    [facts.settings.margin_relative_of(name) for name in self.metrics],
                )
                if replicates
                else None
            ),
        }

    def to_json(self, replicates: bool = False) -> str:
        """
        Write the result as JSON.

        Parameters
        ----------
        replicates : bool, default=False
            Whether to include the replicates, and what every method but ``"studentized"`` needs,
            ``"bca"`` for the relative margin of this result alone. Without them the text is
            short, and a result read from it shows its tables but cannot `replace` anything.

        Returns
        -------
        str
            Undefined numbers are ``null``, infinite ones ``"Infinity"`` and ``"-Infinity"``.
        """
        return storage.to_json(self.to_dict(replicates))

    @classmethod
    def from_json(cls, text: str) -> ComparisonResult:
        """
        Read a result that `to_json` has written.

        Parameters
        ----------
        text : str
            The JSON text.

        Returns
        -------
        ComparisonResult
            Equal to the one written; with replicates if the text has them.
        """
        data = storage.from_json(text)
        with storage.damage_named():
            return cls(**storage.keywords(data))

    def replace(
        self,
        *,
        baseline: str = _UNCHANGED,
        confidence_level: float = _UNCHANGED,
        method: str = _UNCHANGED,
        alternative: str = _UNCHANGED,
        margin: float | Mapping[str, float] | None = _UNCHANGED,
        margin_relative: float | Mapping[str, float] | None = _UNCHANGED,
        correction: str | None = _UNCHANGED,
        family: str = _UNCHANGED,
        pairs: str = _UNCHANGED,
    ) -> ComparisonResult:
        """
        Read the same resamples in another way, without drawing again.

        What is not given stays as it is.

        Parameters
        ----------
        baseline : str, optional
            Name of the model that the others are compared with. Permutation tests are those that
            were made: between two models that had not been compared there is none.
        confidence_level : float between 0 and 1, optional
            Confidence level of the intervals.
        method : {"percentile", "basic", "normal", "bca", "studentized", "t", "expanded"}, optional
            Interval method. ``"studentized"`` draws the same resamples once more, for the standard
            error of each.
        alternative : {"two-sided", "better", "worse"}, optional
            Alternative of the comparisons: better or worse for each metric.
        margin : float, mapping of str to float or None, optional
            The smallest difference that would matter. It takes the place of ``margin_relative``.
        margin_relative : float, mapping of str to float or None, optional
            The same as a share of the baseline's score. It takes the place of ``margin``.
        correction : {"holm", "max-t", "max-t-step-down", "bonferroni", "fdr"} or None, optional
            Correction of the p-values over a family of comparisons.
        family : {"metric", "all"}, optional
            What is corrected for one another: the comparisons of one metric, or those of all.
        pairs : {"baseline", "all"}, optional
            Whether models are compared with the baseline, or each with every other.

        Returns
        -------
        ComparisonResult
            A new result.
        """
        distribution = self._require_distribution("`replace`")
        facts = self._facts
        given: dict[str, Any] = {
            "baseline": baseline,
            "confidence_level": confidence_level,
            "method": method,
            "alternative": alternative,
            "margin": margin,
            "margin_relative": margin_relative,
            "correction": correction,
            "family": family,
            "pairs": pairs,
        }
        changes = {name: value for name, value in given.items() if value is not _UNCHANGED}
        for name, other in (("margin", "margin_relative"), ("margin_relative", "margin")):
            if changes.get(name) is not None:
                changes.setdefault(other, None)
        settings = dataclasses.replace(facts.settings, **changes)
        check_settings(settings, facts.models, facts.metrics)
        check_method_of_scheme(settings.method, facts.scheme)
        if facts.factors:
            check_crossed_method(settings.method)
        if not facts.paired:
            check_unpaired_method(settings.method)
        settings = dataclasses.replace(
            settings,
            margin=plain_margin(settings.margin),
            margin_relative=plain_margin(settings.margin_relative),
        )
        if facts.n_resamples != "exact":
            check_alpha(facts.n_sequences, settings.confidence_level)
            if settings.method == "expanded":
                expansion = distribution.expansion_of()
                check_alpha(facts.n_sequences, settings.confidence_level, expansion=expansion)
        return ComparisonResult(
            distribution=distribution,
            metrics=facts.metrics,
            settings=settings,
            random_state_entropy=facts.random_state_entropy,
            notes=self._input_notes,
            versions=self._versions,
            permutation_tests=self._permutation_tests,
            slice_parts=self._slice_parts,
            split_scores=self._split_scores,
            **{name: getattr(facts, name) for name in storage.AS_IT_IS},
        )
