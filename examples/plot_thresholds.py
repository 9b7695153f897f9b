"""
A threshold is a decision
=========================

A model gives probabilities, and somebody must decide from which probability on to act. Most
programs act at 0.5 without asking. Which threshold meets a required recall, and which one costs
least? And how much of what it promises will remain on other rows?

The usual mistake comes after the choice: the best point of the curve is reported as the result,
from the very rows that it was picked on.
"""

# %%
# .. req_E02
#
# A sweep of 97 thresholds, from 0.02 to 0.98, on all 2,400 simulated rows. Recall can only
# fall as the threshold rises. Precision mostly rises, but nothing forces it to.

from pathlib import Path

import numpy as np

from sklearn_pairboot.metrics import choose_threshold, misclassification_cost, threshold_curve

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "threshold.npz")
y, p = arrays["y"], arrays["p"]

grid = np.arange(2, 99) / 100
curve = threshold_curve(y, p, thresholds=grid)
print(f"{len(grid)} thresholds; some of them:")
for threshold in (0.1, 0.3, 0.5, 0.7, 0.9):
    at = int(np.flatnonzero(grid == threshold)[0])
    print(
        f"threshold {threshold}: precision {curve.precision[at]:.4f}, "
        f"recall {curve.recall[at]:.4f}, F1 {curve.f1[at]:.4f}, accuracy {curve.accuracy[at]:.4f}"
    )

# %%
# Say that 95 % of the positive rows must be found. Many thresholds do that, and the highest of them
# raises the fewest alarms. On the grid that is 0.40. A grid is for the eye: ``choose_threshold``
# tries every score that occurs, and its choice can be a little higher.

enough = curve.recall >= 0.95
print(f"highest grid point with recall >= 0.95: {grid[enough].max():.2f}")
print(f"highest threshold with recall >= 0.95:  {choose_threshold(y, p, min_recall=0.95):.3f}")

# %%
# .. req_E28
#
# Or let costs decide. A missed positive costs 5, a false alarm 1: these numbers come from
# the people who bear them. If the probabilities mean what they say, the best threshold is known
# without any data: 1 / (1 + 5).

costs = {"cost_fn": 5, "cost_fp": 1}
print(f"cost per row at 0.5: {curve.cost(**costs)[grid == 0.5][0]:.4f}")
print(f"lowest cost per row: {curve.cost(**costs).min():.4f}")
print(f"threshold from costs alone: {1 / (1 + 5):.3f}")

# %%
# So far every row was used to choose. Now honestly: the first half of the rows chooses, the second
# half reports. The floor of 0.95 held on the rows that chose. On the others it holds only about so.

chosen_on, reported_on = slice(0, 1200), slice(1200, None)
for_recall = choose_threshold(y[chosen_on], p[chosen_on], min_recall=0.95)
for_costs = choose_threshold(y[chosen_on], p[chosen_on], **costs)
for name, rows in (("rows that chose", chosen_on), ("other rows", reported_on)):
    at = threshold_curve(y[rows], p[rows], thresholds=[for_recall])
    print(f"{name}: recall {at.recall[0]:.3f}, precision {at.precision[0]:.3f} at {for_recall:.3f}")

# %%
# The costs of three thresholds on the second half, each compared with 0.5 on the same resampled
# rows. A difference below 0 is an improvement.

from sklearn.metrics import make_scorer

from sklearn_pairboot import compare_predictions

thresholds = {"0.5": 0.5, "chosen": for_costs, "1/6": 1 / 6}
labels = {name: (p[reported_on] >= at).astype(int) for name, at in thresholds.items()}
cost = make_scorer(misclassification_cost, greater_is_better=False, **costs)
result = compare_predictions(y[reported_on], labels, scoring={"cost": cost}, random_state=0)
for row in result.scores:
    print(f"{row.model} ({thresholds[row.model]:.3f}): cost per row {row.estimate:.4f}")
for row in result.differences:
    print(
        f"{row.model} - {row.baseline}: {row.difference:+.3f} [{row.ci_low:.3f}, "
        f"{row.ci_high:.3f}], p = {row.p_value:.3f}, adjusted {row.p_adjusted:.3f}: {row.verdict}"
    )

# %%
# Both are cheaper than 0.5 on these rows, by about 15 %. Yet both verdicts are "inconclusive", one
# of them with an interval that leaves out 0: two thresholds were tried against 0.5, and the verdict
# follows the p-value that is adjusted for two. Whoever names one of them in advance needs no
# adjustment. Whoever tries ten and shows the best needs more of it.
#
# .. req_E33
#
# The threshold from costs alone supposes calibrated probabilities. Check that before using
# it; :ref:`sphx_glr_gallery_plot_calibration.py` says how. Here they are nearly calibrated, and 1/6
# does as well as the chosen threshold.

from sklearn_pairboot import expected_calibration_error

error = expected_calibration_error(y[reported_on], p[reported_on], n_bins=10)
print(f"expected calibration error: {error:.3f}")

# %%
# Precision and recall on the rows that report, with the chosen threshold. The band tells how far
# each curve would move at one threshold with other rows.

import matplotlib.pyplot as plt

from sklearn_pairboot.plotting import ThresholdDisplay

ThresholdDisplay.from_predictions(
    y[reported_on], {"model": p[reported_on]}, metric=("precision", "recall"), random_state=0
).plot(threshold=for_recall)
plt.show()

# %%
# The cost curve is flat around its lowest point: its band is wider than what thresholds between 0.1
# and 0.4 differ by. That is why the best threshold of one half of the rows can be 0.34, and of the
# other half 0.14. The rows hint at a threshold below 0.5, and say next to nothing about which one.

print(f"best on the first half:  {for_costs:.2f}")
print(f"best on the second half: {choose_threshold(y[reported_on], p[reported_on], **costs):.2f}")
ThresholdDisplay.from_predictions(
    y[reported_on], {"model": p[reported_on]}, metric="cost", **costs, random_state=0
).plot(unit="false alarms", threshold=for_costs)
plt.show()

# %%
# What these data do not show
# ---------------------------
# The mark in the second picture is the best threshold of the rows that report. It is an upper bound
# on what choosing could have gained, and no result. The costs are the same for every row here;
# where a customer is worth more than another, use the costs of each. And a threshold is tied to the
# share of positive rows, one half here: another share asks for another threshold.
#
# Where to go on: ``sklearn_pairboot.protocol.evaluate_protocol`` keeps training, choosing and
# reporting apart by itself, and can draw the rows that choose as well.
