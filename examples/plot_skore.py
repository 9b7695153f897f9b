"""
From a skore report to a paired comparison
==========================================

`skore <https://docs.skore.probabl.ai>`_ keeps an estimator, its data and its predictions in a
report, and compares reports by their metrics. Two reports say 0.93 and 0.96. Would the order hold
on other rows? This recipe hands the predictions of such reports over.

skore is no dependency of this library. Where it is not installed, the example builds objects with
the same attributes from plain scikit-learn, so that the calls below are the same either way. They
were tried with skore 0.28.
"""

# %%
# Reports of estimators
# ---------------------
# Two estimators, one split. In an ``EstimatorReport`` the test rows are ``X_test`` and ``y_test``,
# the fitted estimator is ``estimator_``, and predictions come from a cache by ``get_predictions``.

from types import SimpleNamespace

from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

try:
    from skore import CrossValidationReport, EstimatorReport
except ImportError:

    def EstimatorReport(estimator, *, X_train, y_train, X_test, y_test):  # noqa: N802
        """Stand in for the report of skore: the same names, from scikit-learn alone."""
        fitted = clone(estimator).fit(X_train, y_train)
        return SimpleNamespace(
            estimator_=fitted,
            X_test=X_test,
            y_test=y_test,
            get_predictions=lambda *, data_source, response_method="predict": getattr(
                fitted, response_method
            )(X_test),
        )

    def CrossValidationReport(estimator, X, y, *, splitter):  # noqa: N802
        """Stand in for the report of skore: one report a fold."""
        indices = tuple(splitter.split(X, y))
        reports = [
            EstimatorReport(
                estimator, X_train=X[train], y_train=y[train], X_test=X[test], y_test=y[test]
            )
            for train, test in indices
        ]
        return SimpleNamespace(reports_=reports, split_indices=indices, X=X, y=y)


X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
estimators = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}
reports = {
    name: EstimatorReport(estimator, X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test)
    for name, estimator in estimators.items()
}

# %%
# The short way: hand over the fitted estimators and the test rows of one report. Check first that
# the reports share their rows; nobody else will.

import numpy as np

from sklearn_pairboot import compare_estimators

first = reports["tree"]
for report in reports.values():
    np.testing.assert_array_equal(report.X_test, first.X_test)
result = compare_estimators(
    {name: report.estimator_ for name, report in reports.items()},
    first.X_test,
    first.y_test,
    scoring=["accuracy", "roc_auc"],
    random_state=0,
)
print(result.to_frame()[["metric", "difference", "ci_low", "ci_high", "verdict"]].round(4))

# %%
# The other way: take the predictions from the cache, and predict nothing again. Metrics that need
# labels and metrics that need probabilities go together in one record a model.

from sklearn_pairboot import RecordedEstimator, compare_predictions

records = {
    name: RecordedEstimator.from_arrays(
        predict=report.get_predictions(data_source="test"),
        predict_proba=report.get_predictions(data_source="test", response_method="predict_proba"),
        classes=report.estimator_.classes_,
    )
    for name, report in reports.items()
}
again = compare_predictions(first.y_test, records, scoring=["accuracy", "roc_auc"], random_state=0)
print("the same table:", again.to_frame().equals(result.to_frame()))

# %%
# Reports of a cross-validation
# -----------------------------
# ``reports_`` has one report for every fold, and ``split_indices`` the rows. This is all that
# :func:`~sklearn_pairboot.compare_cross_validate` asks for: it reads the dictionary that
# ``cross_validate`` returns. Give every report the same splitter with a fixed seed.

from sklearn_pairboot import compare_cross_validate

splitter = StratifiedKFold(5, shuffle=True, random_state=0)
folds = {
    name: CrossValidationReport(estimator, X, y, splitter=splitter)
    for name, estimator in estimators.items()
}
results = {
    name: {
        "estimator": [fold.estimator_ for fold in report.reports_],
        "indices": {
            "train": [train for train, _ in report.split_indices],
            "test": [test for _, test in report.split_indices],
        },
    }
    for name, report in folds.items()
}
cross_validated = compare_cross_validate(results, X, y, scoring="roc_auc", random_state=0)
print(cross_validated.summary().partition("\n\nScores")[0])
test = cross_validated.split_tests[0]
print(f"corrected t test of the folds: [{test.ci_low:.3f}, {test.ci_high:.3f}]")

# %%
# The bootstrap answers for other rows, and holds the fold models fixed. The t test asks for more:
# would the methods differ if they were trained on other rows? Its interval is wider for that.
#
# Both bootstrap results, the fitted models on their test rows and the fold models on theirs, on one
# scale:

import matplotlib.pyplot as plt

figure, axes = plt.subplots(2, 1, figsize=(8.5, 4.2), sharex=True, layout="constrained")
result.plot("forest", metric="roc_auc", ax=axes[0])
axes[0].set_title("one split", loc="left", fontweight="bold")
cross_validated.plot("forest", ax=axes[1])
axes[1].set_title("five folds", loc="left", fontweight="bold")
plt.show()

# %%
# What these data do not show
# ---------------------------
# Reports that were compared with one another many times, with the best one kept, have chosen their
# winner on these rows: its score is too good. See
# :ref:`sphx_glr_gallery_plot_grid_search.py` for what to do then.
#
# Where to go on: :func:`~sklearn_pairboot.compare_estimators` has ``groups=`` for rows that come in
# clusters, which a report does not know.
