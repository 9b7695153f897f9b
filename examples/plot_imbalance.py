"""
Accuracy on rare events
=======================

A model that looks for rare events is right on 95.9 % of 2,400 rows. Is it any good? Whoever says
"negative" every time is right on 95.6 %, because only 105 rows are positive. Accuracy hardly looks
at the rows that one cares about, and no interval around it can change that.

The data are simulated, with one positive row in 23.
"""

# %%
# .. req_E07
#
# The baseline belongs in the comparison, as a model of its own. It calls every row
# negative and gives every row the same score.

from pathlib import Path

import numpy as np

from sklearn_pairboot import RecordedEstimator, compare_predictions

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "imbalance.npz")
y, p = arrays["y"], arrays["p"]
print(f"positive rows: {y.sum()} of {len(y)}, rate {y.mean():.5f}")


def recorded(p):
    """Hold labels at 0.5 and probabilities of a model."""
    table = np.column_stack([1 - p, p])
    return RecordedEstimator.from_arrays(
        predict=(p >= 0.5).astype(int), predict_proba=table, classes=[0, 1]
    )


result = compare_predictions(
    y,
    {"all negative": recorded(np.zeros(len(y))), "model": recorded(p)},
    scoring=["accuracy", "balanced_accuracy", "recall", "roc_auc", "average_precision"],
    random_state=0,
)
for row in result.differences:
    interval = f"[{row.ci_low:.4f}, {row.ci_high:.4f}]"
    print(f"{row.metric:17s} {row.difference:+.4f} {interval} {row.verdict}")

# %%
# In accuracy these rows cannot separate the model from saying "negative" every time. In everything
# that looks at the positive rows they can, by far. Both are true. They are different questions, and
# only the second one is of interest here.
#
# The scores themselves. For scores without any information the area under the ROC curve is 0.5,
# and average precision is the rate of positive rows. So 0.39 is poor or excellent depending on that
# rate: never report average precision without it.

for metric in ("accuracy", "roc_auc", "average_precision"):
    for row in result.scores:
        if row.metric == metric:
            print(f"{metric:17s} {row.model:12s} {row.estimate:.5f}")

# %%
# Class by class: recall is computed among 105 rows, and its interval is as wide as so few rows make
# it. The 2,400 rows do not help. Of the negative rows, nearly all are called negative.

from sklearn_pairboot.inference import rate_interval

for label, name in ((1, "positive"), (0, "negative")):
    rows = y == label
    right = int(((p[rows] >= 0.5) == label).sum())
    found = rate_interval(right, int(rows.sum()))
    low, high = found.ci_low, found.ci_high
    print(f"{name}: {right} of {found.n} right, {found.estimate:.3f} [{low:.3f}, {high:.3f}]")

# %%
# At 0.5 the model finds one positive row in ten. This is a matter of the threshold, not of the
# model: the precision-recall curve shows what other thresholds would give. The dotted line is the
# rate of positive rows. The band is wide on the left, where a handful of rows decide.

import matplotlib.pyplot as plt

from sklearn_pairboot.plotting import PrecisionRecallDisplay, RocDisplay

figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.8), layout="constrained")
PrecisionRecallDisplay.from_predictions(y, {"model": p}, random_state=0).plot(axes[0])
RocDisplay.from_predictions(y, {"model": p}, random_state=0).plot(axes[1])
plt.show()

# %%
# The ROC curve beside it looks more cheerful, and describes the same scores. Its horizontal axis is
# a share of the 2,295 negative rows: two percent of them are already 46 false alarms, nearly half
# as many as there are positive rows.
#
# A threshold where half of the positive rows are found, and what it costs in false alarms:

from sklearn_pairboot.metrics import choose_threshold, threshold_curve

threshold = choose_threshold(y, p, min_recall=0.5)
at = threshold_curve(y, p, thresholds=[threshold])
print(f"threshold {threshold:.3f}: recall {at.recall[0]:.3f}, precision {at.precision[0]:.3f}")
print(f"{at.true_positives[0]:.0f} hits, {at.false_positives[0]:.0f} false alarms")

# %%
# What these data do not show
# ---------------------------
# The threshold was chosen on the rows that it is reported for, so its numbers are a little too
# good. And if the 105 positive rows come from a few events, such as several alarms of one fault,
# there are fewer than 105 pieces of information: pass ``groups=``.
#
# Where to go on: whether one hit is worth that many false alarms is a question of costs, see
# :ref:`sphx_glr_gallery_plot_thresholds.py`. What happens when positive rows become rarer still is
# in :ref:`sphx_glr_gallery_plot_prior_shift.py`.
