"""
Probabilities that mean what they say
=====================================

Of all rows that a model gives 0.9, are nine in ten positive? If not, every decision that computes
with these probabilities goes wrong: costs, expected sales, thresholds. The area under the ROC curve
(AUC) does not notice, because it only looks at the order of the scores. So a model with an
excellent AUC may be no good for decisions.

The data are simulated, and half of the rows are positive.
"""

# %%
# A logistic regression, and the same model made over-confident: its log-odds times three. The order
# of the rows stays the same, so AUC stays the same. The probabilities run off to 0 and 1.
#
# The first half of the rows will repair it, the second half judges. Rows that do both would make
# the repair look better than it is.

from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from sklearn_pairboot import expected_calibration_error

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "calibration.npz")
y, p_sure, half = arrays["y"], arrays["p_over"], int(arrays["half"])
y_fit, y_test = y[:half], y[half:]

models = {"logistic": arrays["p_lr"][half:], "over-confident": p_sure[half:]}


def show(models):
    """Print AUC and calibration error on the rows that judge."""
    for name, p in models.items():
        error = expected_calibration_error(y_test, p, n_bins=10)
        print(f"{name:14s} AUC {roc_auc_score(y_test, p):.4f}, calibration error {error:.3f}")


show(models)

# %%
# .. req_E08, req_E09
#
# The expected calibration error (ECE) puts the predictions into bins, takes the
# distance between mean prediction and share of positives in each, and averages over the rows. It
# depends on the bins, so always say which: here ten of equal width, the last one with its right
# end. A loop that leaves out predictions of exactly 1 gives another number. And chance keeps it
# above 0 even where every probability is right: it is made of absolute values.

for n_bins in (5, 10, 15, 20):
    error = expected_calibration_error(y_test, models["over-confident"], n_bins=n_bins)
    print(f"{n_bins} bins: {error:.3f}")

# %%
# .. req_E10
#
# Two repairs, both learned from the first half alone. Platt scaling fits a logistic curve
# through the log-odds. Isotonic regression fits any rising steps.

from sklearn_pairboot.calibration import IsotonicCalibrator, PlattCalibrator

platt = PlattCalibrator(probabilities=True).fit(p_sure[:half], y_fit)
isotonic = IsotonicCalibrator().fit(p_sure[:half], y_fit)
models["Platt"] = platt.predict_proba(p_sure[half:])[:, 1]
models["isotonic"] = isotonic.predict_proba(p_sure[half:])[:, 1]
show(models)

# %%
# .. req_E11
#
# Platt scaling keeps the order of the rows, and AUC to the last digit. Isotonic steps give
# many rows the same score. Ties count half, so AUC moves a little. "Calibration cannot change AUC"
# holds for strictly rising maps only.

from sklearn_pairboot.metrics import auc_ties

for name in ("over-confident", "isotonic"):
    found = auc_ties(y_test, models[name])
    print(f"{name}: {found.n_distinct} distinct scores, AUC {found.auc:.4f}")

# %%
# Before and after. Points on the dotted line are calibrated. At both ends the over-confident model
# promises more than it keeps: above the line on the left, below it on the right. The gaps there
# look small, but the histogram shows that most of its rows are at the ends. The points in the
# middle are wild because few rows are behind each of them; their intervals say so. Platt scaling
# comes nearer to the line, and is not on it everywhere: a logistic curve can only mend so much.

import matplotlib.pyplot as plt

from sklearn_pairboot.plotting import ReliabilityDisplay

shown = {name: models[name] for name in ("over-confident", "Platt")}
ReliabilityDisplay.from_predictions(y_test, shown, random_state=0).plot()
plt.show()

# %%
# Is one repair better than the other? Compare them on the same resamples of the same rows. The
# difference of two calibration errors gets no interval: chance adds to the error of each model, to
# each another amount. The debiased square, ``squared_ece``, comes along for that reason. Log loss
# needs no bins, and also sees whether probabilities tell rows apart. This matters, since 0.5 for
# every row would pass for a calibrated model here.

from sklearn_pairboot import ECE, RecordedEstimator, compare_predictions

constant = expected_calibration_error(y_test, np.full(len(y_test), 0.5), n_bins=10)
print(f"calibration error of 0.5 for every row: {constant:.3f}")

recorded = {
    name: RecordedEstimator.from_arrays(predict_proba=np.column_stack([1 - p, p]), classes=[0, 1])
    for name, p in models.items()
}
result = compare_predictions(
    y_test,
    {name: recorded[name] for name in ("Platt", "isotonic")},
    scoring={"ece": ECE(n_bins=10), "log_loss": "neg_log_loss"},
    random_state=0,
)
for row in result.differences:
    interval = f"[{row.ci_low:.4f}, {row.ci_high:.4f}]"
    print(
        f"{row.metric}, isotonic - Platt: {row.difference:+.4f}",
        "has no interval" if np.isnan(row.ci_low) else f"{interval}, {row.verdict}",
    )

# %%
# By calibration error these rows cannot separate the two. By log loss the isotonic map does worse,
# for a plain reason: its lowest step is exactly 0, and some of the rows there are positive. A
# probability of 0 says "never"; log loss does not forgive that, and a decision should not either.

zero = models["isotonic"] == 0
print(f"isotonic: {zero.sum()} rows have probability 0, and {y_test[zero].sum()} are positive")

# %%
# What these data do not show
# ---------------------------
# That Platt scaling is the better map in general: here the damage was one factor on the log-odds,
# which is just what it can undo. And nothing about rows of next month: fit the map again after a
# new model, new traffic, or a new share of positives, which is the subject of
# :ref:`sphx_glr_gallery_plot_prior_shift.py`.
#
# Where to go on: ``sklearn_pairboot.calibration.calibrate`` puts such a map around a fitted
# classifier; ``sklearn_pairboot.metrics.calibration_test`` gives one p-value for all bins.
