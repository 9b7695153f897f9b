"""
Train, validate, and read the test rows once
============================================

A classifier needs more than training. Its probabilities may have to be calibrated, and somebody has
to choose the threshold above which it acts. On which rows should that be done, and which model is
then the better one?

What is often done is to choose the threshold on the very rows on which the result is reported. The
threshold then fits the accidents of these rows, and the reported number is too good. Three parts
keep it honest: training rows for the model, validation rows for calibration *and* threshold, test
rows for one look at the end.
"""

# %%
# Simulated rows, about one in six positive. A missed positive costs five times as much as a false
# alarm. The last 10,000 rows stand for the world outside, which one usually does not have.

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(
    n_samples=13_000,
    n_features=15,
    n_informative=6,
    n_redundant=4,
    n_clusters_per_class=3,
    weights=[0.85],
    flip_y=0.04,
    class_sep=0.8,
    random_state=0,
)
(X_train, X_val, X_test, X_world), (y_train, y_val, y_test, y_world) = (
    np.split(part, [1000, 2000, 3000]) for part in (X, y)
)
models = {
    "naive Bayes": GaussianNB(),
    "forest": RandomForestClassifier(50, min_samples_leaf=5, random_state=0),
}

# %%
# One call does it in this order. It refuses parts that share rows, and a threshold of 0.5 that
# nobody has chosen. The first half of the report is the protocol itself.

from sklearn_pairboot.protocol import evaluate_protocol

# req_E10 req_E27 req_E28
found = evaluate_protocol(
    models,
    X_train,
    y_train,
    X_val,
    y_val,
    X_test,
    y_test,
    cost_fn=5,
    cost_fp=1,
    calibration="platt",
    random_state=0,
)
thresholds = found.summary().partition("\n\nThresholds")[2].partition("\n\nDifferences")[0]
print("Thresholds" + thresholds)

# %%
# Read the column of costs. That of the validation rows is no estimate, since these rows made the
# choice. The test rows give the estimate. The block called *peek* is what a threshold chosen on the
# test rows would have claimed: an upper bound of what a better threshold could bring, never a
# result. (Here the test rows happen to cost less than the validation rows. On a single set the luck
# of the rows hides by how much a choice flatters; the last section repeats it.)

for by_validation, on_test, peek in zip(found.validation, found.test, found.peek, strict=True):
    print(
        f"{on_test.model}: cost {by_validation.cost:.3f} on validation rows, "
        f"{on_test.cost:.3f} on test rows, at best {peek.cost:.3f} by peeking"
    )

# %%
# The second half compares the models, each calibrated and at its own threshold, on the same test
# rows.

print(found.result.summary().partition("\n\nDifferences")[0])

# %%
# Cost against threshold on the test rows, to look at and not to choose from. The vertical lines are
# the thresholds that the validation rows chose; the marks are the best of the thresholds drawn, and
# show how flat a curve can be where one has to choose.

import matplotlib.pyplot as plt

from sklearn_pairboot.plotting import ThresholdDisplay

probabilities = {name: model.predict_proba(X_test)[:, 1] for name, model in found.models.items()}
ThresholdDisplay.from_predictions(
    y_test, probabilities, metric="cost", cost_fn=5, cost_fp=1, random_state=0
).plot(threshold=found.thresholds)
plt.show()

# %%
# With calibrated probabilities these costs call for a threshold of 1 / (1 + 5). That rule takes
# probabilities at their word, so check the word first.

from sklearn_pairboot import expected_calibration_error

# req_E33
raw = GaussianNB().fit(X_train, y_train).predict_proba(X_test)[:, 1]
print(f"ECE of naive Bayes as trained: {expected_calibration_error(y_test, raw):.3f}")
calibrated = expected_calibration_error(y_test, probabilities["naive Bayes"])
print(f"calibrated on validation rows: {calibrated:.3f}")

# %%
# How much does peeking flatter?
# ------------------------------
# One test set cannot tell. Repeat it, with 300 rows each time from the world outside: choose the
# threshold of the forest on these rows and report the cost on them, or choose it on 300 others.
# What the model would cost outside, at the threshold that was chosen, is known here.

from sklearn_pairboot.metrics import choose_threshold, misclassification_cost

costs = {"cost_fn": 5, "cost_fp": 1}
p_world = found.models["forest"].predict_proba(X_world)[:, 1]
rng = np.random.default_rng(0)


def cost_at(threshold, rows):
    """Mean cost of these rows of the world at a threshold."""
    return misclassification_cost(y_world[rows], (p_world[rows] >= threshold).astype(int), **costs)


everywhere = slice(None)
errors = {"chosen on the test rows": [], "chosen on validation rows": []}
for _ in range(200):
    validation, test = rng.permutation(len(y_world))[:600].reshape(2, 300)
    for name, rows in zip(errors, (test, validation), strict=True):
        threshold = choose_threshold(y_world[rows], p_world[rows], **costs)
        errors[name].append(cost_at(threshold, test) - cost_at(threshold, everywhere))

for name, values in errors.items():
    off, noise = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    print(f"{name}: reported less actual cost {off:+.3f} on average (+- {noise:.3f})")

# %%
# Chosen on validation rows, the reported cost is right on average. Chosen on the test rows it is
# too low. More rows make this flattery smaller and do not remove it.

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
bins = np.linspace(-0.25, 0.25, 31)
flattered, honest = errors
ax.hist(errors[honest], bins, color="tab:blue", alpha=0.4, label=honest)
ax.hist(errors[flattered], bins, histtype="step", color="tab:orange", linewidth=2, label=flattered)
ax.axvline(np.mean(errors[honest]), color="tab:blue", linestyle="--")
ax.axvline(np.mean(errors[flattered]), color="tab:orange", linestyle="--")
ax.axvline(0, color="0.5", linewidth=1)
ax.set(
    xlabel="reported less actual mean cost of a row (dashed: average)",
    ylabel="of 200 repetitions",
)
ax.legend()
plt.show()

# %%
# What this does not show
# -----------------------
# The models are held fixed; training again would change them. A second look at the test rows,
# after a change that the first look has led to, makes validation rows of them. And calibration
# holds for rows of the same kind: if the share of positives moves, calibrate and choose anew.
#
# Where to go on: with few rows three parts are a waste, so cross-validate;
# :ref:`sphx_glr_gallery_plot_fold_dependence.py` says how to read that.
