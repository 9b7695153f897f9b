"""
From scores to verdict
======================

Two models are scored on the same test rows, and one is a little better. Would that hold on other
rows of the same kind? This example goes the whole way: fit, compare, read the answer, look at the
resamples behind it.
"""

# %%
# Two models, fitted on one part of the rows. The other part chose nothing: no model, no
# parameter, no threshold.

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
parts = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
X_train, X_test, y_train, y_test = parts
forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)

# %%
# One call compares them. Each model predicts once; every resample draws the same rows for both.
# The first model is the baseline.

from sklearn_pairboot import compare_estimators

result = compare_estimators(
    {"forest": forest, "logistic": logistic},
    X_test,
    y_test,
    scoring=["accuracy", "neg_log_loss"],
    random_state=0,
)
print(result)

# %%
# The sentences at the top are the answer. On accuracy these rows cannot separate the two: the
# interval contains 0, and still allows a loss of about one percentage point. On log loss the
# logistic regression is better.
#
# The numbers behind the sentences, to go on with:

for row in result.differences:
    print(
        f"{row.metric}: {row.difference:+.3f} [{row.ci_low:.3f}, {row.ci_high:.3f}], "
        f"p = {row.p_value:.4f}: {row.verdict}"
    )

# %%
# ``result.replicates`` has one value for each resample, metric and model, all on the same draws.
# The interval is read off the differences: from the 2.5th to the 97.5th percentile. Those of log
# loss stand in heaps: a single row, on which the forest is sure and wrong, makes most of the
# difference, and each heap is the resamples that drew it never, once, twice. A table alone would
# not have shown it.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, metric in zip(axes, result.metrics, strict=True):
    result.plot("difference", ax=ax, metric=metric)
plt.show()

# %%
# "Inconclusive" is not "equal". Whether a loss of one point would matter is a question for a
# margin that is set before looking: here, two percentage points of accuracy. The same resamples
# answer it, nothing is drawn again.

print(result.replace(margin={"accuracy": 0.02}).summary().partition("\n\nScores")[0])
