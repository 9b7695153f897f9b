"""What `make demo` runs: two models on real test rows, then rows that come in clusters.

Run it with ``python examples/demo.py`` where sklearn-pairboot is installed with its extra ``cli``.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_pairboot import ComparisonResult, cli, compare_estimators

ROOT = Path(__file__).resolve().parents[1]
QUESTION = (
    "sklearn-pairboot compare examples/data/photos.csv --label malignant --models old new "
    "--metric roc_auc neg_log_loss"
)

INTRODUCTION = """\
1. REAL ROWS: can a logistic regression replace a random forest?

Both learned from 60 % of the breast cancer data that scikit-learn ships, and are scored on the
other 40 %. Each resample draws test rows with replacement, the same ones for both models and
all metrics.
"""

CLUSTERS = """
2. ROWS IN CLUSTERS: what changes when rows are not independent?

examples/data/photos.csv holds 517 photographs of the skin of 40 patients, and the probabilities
that an old and a new model gave for "malignant". These rows are SIMULATED, by
examples/make_clustered_data.py, so the truth is known: neither model is better than the other.
First, photographs are drawn one by one, as if they were independent:
"""

WHOLE_PATIENTS = """
Now whole patients are drawn, with all their photographs. The two estimates are the same:
"""

CONCLUSION = """
The photographs of a patient resemble each other, so 517 rows tell little more than 40 patients
do. Drawn one by one, they raised a false alarm, as in more than half of 400 files simulated in
this way; drawn by patient, 6 to 7 % do, and 5 % are allowed. Name the clusters (--groups, groups=)
whenever several rows share a patient, a document or a user.
"""


def compare_on_breast_cancer() -> ComparisonResult:
    """Fit two models on one part of the rows, and compare them on the other."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.4, stratify=y, random_state=0
    )
    forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    return compare_estimators(
        {"forest": forest, "logistic": logistic},
        X_test,
        y_test,
        scoring=["accuracy", "f1", "roc_auc", "neg_log_loss"],
        random_state=0,
    )


def run(command: str) -> None:
    """Show a command and the first part of its report, up to the table of scores."""
    program, *arguments = shlex.split(command)
    print(f"$ {command}".replace(" --metric", " \\\n      --metric"))
    report = io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(report):
        status = cli.main(arguments)
    if status:
        sys.exit(status)
    print(report.getvalue().partition("\nScores")[0])
    print("  [...] the scores themselves and how this was computed: run the command")


def main() -> None:
    """Show both parts."""
    print(INTRODUCTION)
    print(compare_on_breast_cancer())
    print(CLUSTERS)
    run(QUESTION)
    print(WHOLE_PATIENTS)
    run(f"{QUESTION} --groups patient")
    print(CONCLUSION)


if __name__ == "__main__":
    main()
