"""Train, choose on validation rows, read the test rows once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from sklearn_pairboot._scoring.checks import check_choice, named, shown
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot._tables import check_baseline
from sklearn_pairboot.calibration.models import METHODS
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._run import compare_records
from sklearn_pairboot.metrics import ECE, misclassification_cost
from sklearn_pairboot.metrics._rules import Costs, read_rule
from sklearn_pairboot.protocol import _findings
from sklearn_pairboot.protocol._models import (
    ThresholdRule,
    choose,
    fitted_before,
    fixed_thresholds,
    score,
    train,
    with_thresholds,
)
from sklearn_pairboot.protocol._parts import Part, check_apart
from sklearn_pairboot.protocol._resampled import check_resampled, compare_with_chosen_thresholds
from sklearn_pairboot.protocol.result import ProtocolResult

__all__ = ["evaluate_protocol"]


def evaluate_protocol(
    estimators: Any,
    X_train: Any,
    y_train: Any,
    X_val: Any,
    y_val: Any,
    X_test: Any,
    y_test: Any,
    *,
    scoring: Any = None,
    threshold: float | Mapping[str, float] | None = None,
    min_recall: float | None = None,
    min_precision: float | None = None,
    cost_fn: float | None = None,
    cost_fp: float | None = None,
    cost_tp: float = 0.0,
    cost_tn: float = 0.0,
    calibration: str | None = None,
    groups_train: Any = None,
    groups_val: Any = None,
    groups_test: Any = None,
    pos_label: Any = None,
    choose_threshold_in_resamples: bool = False,
    **options: Any,
) -> ProtocolResult:
    """Compare classifiers of two classes, each calibrated and with a threshold, on fresh rows.

    Models are trained on the training rows. Calibration and threshold are learned on the
    validation rows alone. The test rows are read once, at the end, for the paired comparison.

    Parameters
    ----------
    estimators : mapping or list of (str, classifier)
        Classifiers by name. Fitted ones, frozen or not, are kept as they are; of the others
        copies are fitted on the training rows. A note names those that are kept.
    X_train : array-like of shape (n_train, n_features) or None
        Training rows. ``None`` where all classifiers are fitted and the rows are not at hand;
        then nobody checks that they are not among the other rows.
    y_train : array-like of shape (n_train,) or None
        Their labels.
    X_val : array-like of shape (n_val, n_features)
        Validation rows, for calibration and thresholds.
    y_val : array-like of shape (n_val,)
        Their labels, both classes.
    X_test : array-like of shape (n_test, n_features)
        Test rows.
    y_test : array-like of shape (n_test,)
        Their labels.
    scoring : str, scorer, list, dict or None, default=None
        Metrics of the comparison, as in `compare_estimators`. ``None`` is the mean cost, or else
        precision and recall; accuracy, the area under the ROC curve and average precision; and
        the expected calibration error where all models have probabilities.
    threshold : float or mapping of str to float, default=None
        A fixed threshold, or one for each model, of the probability of the positive class, or of
        the decision value of a model that has none. Exactly one of ``threshold``, ``min_recall``,
        ``min_precision`` and costs must be given: the default of 0.5 is nobody's choice.
    min_recall : float, default=None
        Choose the highest threshold with so much recall on the validation rows.
    min_precision : float, default=None
        Choose the highest recall with so much precision on the validation rows.
    cost_fn, cost_fp : float, default=None
        Costs of a missed positive and of a false alarm: choose the least mean cost on the
        validation rows, and of equal costs the highest threshold.
    cost_tp, cost_tn : float, default=0.0
        Costs of right labels; a gain is a negative cost.
    calibration : str, default=None
        Method of `sklearn_pairboot.calibration.calibrate`, such as ``"platt"`` or ``"isotonic"``,
        for a calibration of every model on the validation rows. ``None`` leaves scores as they
        are.
    groups_train, groups_val, groups_test : array-like of shape (n_rows,), default=None
        Cluster of each row, all three or none. No cluster may be in two parts, and the comparison
        resamples whole clusters.
    pos_label : label, default=None
        Positive class; ``None`` is 1 for labels {0, 1} and {-1, 1}, others must be named.
    choose_threshold_in_resamples : bool, default=False
        Whether every resample draws validation rows too, and chooses the thresholds anew on those.
        Intervals then also tell how uncertain the choice is; without it the thresholds are held
        fixed.
    **options : keywords of `compare_estimators`
        How to compare: ``baseline``, ``n_resamples``, ``confidence_level``, ``method``,
        ``alternative``, ``margin``, ``margin_relative``, ``correction``, ``family``, ``pairs``,
        ``permutation``, ``resampling``, ``estimand``, ``n_jobs``, ``random_state``, ``verbose``.

    Returns
    -------
    ProtocolResult
        Thresholds, their labels on validation and test rows, checks of calibration, the models,
        and the comparison.

    Raises
    ------
    ValueError
        If parts share rows or groups, naming how many and which. Rows are the same where features
        and label are equal; between pandas dataframes with an index of their own only where the
        index agrees too, since different items may look alike.

    See Also
    --------
    compare_estimators : The comparison alone.
    sklearn_pairboot.metrics.choose_threshold : The choice of a threshold alone.
    sklearn.model_selection.TunedThresholdClassifierCV : Thresholds by cross-validation.

    Notes
    -----
    Calibration and threshold share the validation rows. A monotone map does not change which rows
    a threshold can tell apart, so the choice is as good as one on the scores before; isotonic and
    histogram calibration join scores and leave fewer thresholds to choose from. What both share is
    optimism: labels of the validation rows fit them a little too well, which is why
    ``validation`` is no result.

    A threshold that was derived from costs takes probabilities at their word. The one chosen here
    by costs does not: it is the best of the validation rows, whatever the scale of the scores.
    Where both differ much, probabilities are not calibrated. ``calibration`` tests that on the
    test rows; that a test finds nothing proves nothing.

    *When not to use it.* For few rows three parts are a waste; cross-validate. For rows that come
    in time, let the test rows be the latest. When the test rows have led to another choice, they
    are validation rows: take new ones.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_pairboot.protocol import evaluate_protocol
    >>> X, y = make_classification(n_samples=900, weights=[0.8], random_state=0)
    >>> parts = X[:300], y[:300], X[300:600], y[300:600], X[600:], y[600:]
    >>> models = {"bayes": GaussianNB(), "logistic": LogisticRegression()}
    >>> found = evaluate_protocol(
    ...     models, *parts, cost_fn=5, cost_fp=1, calibration="platt", random_state=0
    ... )
    >>> sorted(found.thresholds) == sorted(models)
    True
    >>> found.result.metrics[0]
    'misclassification_cost'
    """
    given = named(estimators)
    names = tuple(given)
    rule = _rule_of(
        threshold,
        min_recall=min_recall,
        min_precision=min_precision,
        cost_fn=cost_fn,
        cost_fp=cost_fp,
        cost_tp=cost_tp,
        cost_tn=cost_tn,
    )
    thresholds = fixed_thresholds(threshold, names) if rule is None else {}
    checked = _options(options)
    check_baseline(checked.baseline, names)
    if calibration is not None:
        check_choice("calibration", calibration, METHODS)
    if not isinstance(choose_threshold_in_resamples, bool | np.bool_):
        raise TypeError(
            "`choose_threshold_in_resamples` must be True or False, got "
            f"{choose_threshold_in_resamples!r}."
        )
    if choose_threshold_in_resamples:
        check_resampled(checked, rule)
    parts = [
        Part.of("val", X_val, y_val, groups_val),
        Part.of("test", X_test, y_test, groups_test),
    ]
    kept = fitted_before(given)
    if _needs_training(given, kept, X_train, y_train):
        parts.insert(0, Part.of("train", X_train, y_train, groups_train))
    pos_label = _positive_class(parts, pos_label)
    check_apart(parts)
    *training, validation, test = parts

    trained = train(given, kept, training[0] if training else None, validation, calibration)
    known = score(trained, kept, validation, pos_label)
    sweeps = known.sweeps()
    if rule is not None:
        thresholds = choose(rule, names, sweeps)
    models = with_thresholds(trained, thresholds, validation, pos_label)

    # From here on the test rows are read, and nothing is chosen any more.
    unseen = score(trained, kept, test, pos_label)
    records = {name: RecordedEstimator.from_estimator(models[name], test.X) for name in names}
    metrics = resolve_scoring(_default_scoring(rule, records) if scoring is None else scoring)
    notes, held_fixed = _notes(rule, calibration, validation), _held_fixed(calibration)
    if choose_threshold_in_resamples and rule is not None:
        result = compare_with_chosen_thresholds(
            records,
            metrics,
            sweeps,
            unseen.sweeps(sweeps),
            rule,
            (validation, test),
            checked,
            pos_label=pos_label,
            notes=notes,
            held_fixed=held_fixed,
        )
    else:
        result = compare_records(
            records,
            test.y,
            metrics,
            checked,
            groups=groups_test,
            pos_label=pos_label,
            notes=notes,
            held_fixed=f"{held_fixed} and their thresholds",
        )
    grouped = test.group_of_row is not None
    checks = _findings.calibration_rows(records, unseen, grouped=grouped)
    level = 1 - float(checked.confidence_level)
    return ProtocolResult(
        result=result,
        models=models,
        thresholds=thresholds,
        validation=_findings.threshold_rows(thresholds, known, rule),
        test=_findings.threshold_rows(thresholds, unseen, rule),
        peek=_findings.peek(names, unseen, rule),
        calibration=checks,
        positive_rate=float(unseen.positive.mean()),
        rule="" if rule is None else str(rule),
        notes=_findings.notes(parts, kept, rule, checks, level, grouped=grouped),
    )


def _rule_of(threshold: Any, **keywords: Any) -> ThresholdRule | None:
    """Read how thresholds are chosen; ``None`` where they are fixed."""
    rule = read_rule(**keywords)
    if (rule is None) == (threshold is None):
        raise ValueError(
            "Exactly one of `threshold`, `min_recall`, `min_precision` and costs (`cost_fn` and "
            f"`cost_fp`) must be given, got {'none' if rule is None else 'a threshold and a rule'}."
            " A threshold of 0.5 is a choice too: pass threshold=0.5 if it is meant."
        )
    return rule


def _options(options: dict[str, Any]) -> Options:
    known = {field.name for field in dataclasses.fields(Options)} - {"paired"}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise TypeError(
            f"evaluate_protocol() must get keywords of its own or {shown(sorted(known), 99)}, got "
            f"{shown(unknown)}."
        )
    return Options(**options)


def _needs_training(
    estimators: Mapping[str, Any], kept: Sequence[str], X_train: Any, y_train: Any
) -> bool:
    """Tell whether there are training rows; without them nothing can be fitted."""
    if X_train is not None or y_train is not None:
        return True
    unfitted = [name for name in estimators if name not in kept]
    if unfitted:
        raise ValueError(
            "`X_train` and `y_train` must be given where models are to be fitted, got None with "
            f"{shown(unfitted)} unfitted."
        )
    return False


def _positive_class(parts: Sequence[Part], pos_label: Any) -> Any:
    """Find the positive class of two; validation rows must have both."""
    found = {label for part in parts for label in np.unique(part.y).tolist()}
    labels = sorted(found, key=lambda label: (isinstance(label, str), label))
    if len(labels) != 2:
        raise ValueError(f"The labels must be of two classes, got {shown(labels)}.")
    by_name = {part.name: part for part in parts}
    present = np.unique(by_name["val"].y).tolist()
    if len(present) < 2:
        raise ValueError(f"`y_val` must hold both classes, got only {present[0]!r}.")
    if pos_label is None and labels in ([0, 1], [-1, 1]):
        return labels[1]
    if pos_label not in labels:
        raise ValueError(
            f"`pos_label` must be one of the labels {shown(labels)}, got {pos_label!r}. Name the "
            "class that a score above the threshold means."
        )
    return labels[labels.index(pos_label)]


def _default_scoring(
    rule: ThresholdRule | None, records: Mapping[str, RecordedEstimator]
) -> dict[str, Any]:
    """Choose metrics: those that the rule is about, then those that need no threshold."""
    scoring: dict[str, Any] = {}
    if isinstance(rule, Costs):
        scoring["misclassification_cost"] = make_scorer(
            misclassification_cost,
            greater_is_better=False,
            cost_fn=rule.fn,
            cost_fp=rule.fp,
            cost_tp=rule.tp,
            cost_tn=rule.tn,
        )
    else:
        scoring |= {"precision": "precision", "recall": "recall"}
    scoring |= {name: name for name in ("accuracy", "roc_auc", "average_precision")}
    if all("predict_proba" in record.responses for record in records.values()):
        scoring["expected_calibration_error"] = ECE()
    return scoring


def _notes(rule: ThresholdRule | None, calibration: str | None, validation: Part) -> list[str]:
    """Say in the comparison what its labels and probabilities come from."""
    rows = f"{len(validation.y)} validation rows"
    how = "fixed beforehand" if rule is None else f"chosen on {rows} by {rule}"
    found = [f"Every model labels rows by its own threshold, {how}."]
    if calibration is not None:
        found.append(f"Probabilities were calibrated ({calibration}) on {rows}.")
    return found


def _held_fixed(calibration: str | None) -> str:
    return "the trained models" if calibration is None else "the trained and calibrated models"
