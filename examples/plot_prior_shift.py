"""
When positives become rarer
===========================

A model was calibrated where three rows in ten are positive. Now it meets rows of which one in ten
is. Nothing else has changed: positive rows look as before, and so do negative ones. Are its
probabilities still right? They are not, and the area under the ROC curve (AUC), which most people
watch, gives no warning.
"""

# %%
# .. req_E12
#
# A simulation in which the right probabilities are known. The score of a row is normal, two units
# higher for positive rows. By Bayes' rule its probability follows from the score and the share of
# positives, 0.30 here.

import numpy as np
from sklearn.metrics import roc_auc_score

from sklearn_pairboot import expected_calibration_error

rng = np.random.default_rng(0)


def draw(share, n=6000):
    """Draw labels, and the probabilities that are right where the share is 0.30."""
    labels = (rng.random(n) < share).astype(int)
    score = rng.normal(2.0 * labels)
    return labels, 1 / (1 + np.exp(-(2 * score - 2 + np.log(0.3 / 0.7))))


y_old, p_old = draw(0.3)
y, p = draw(0.1)
for share, labels, probabilities in ((0.3, y_old, p_old), (0.1, y, p)):
    area = roc_auc_score(labels, probabilities)
    error = expected_calibration_error(labels, probabilities, n_bins=10)
    print(f"share {share:.2f}: AUC {area:.3f}, calibration error {error:.3f}")

# %%
# AUC is the same up to chance, since it compares a positive row with a negative one, however many
# there are of each. The calibration error is nine times as large. Where labels have come in, a test
# of the average says so at once: nearly twice as many positives were announced as there are.

from sklearn_pairboot.calibration import calibration_in_the_large

found = calibration_in_the_large(y, p)
print(f"announced {found.expected:.3f}, observed {found.observed:.3f}, z = {found.statistic:.0f}")

# %%
# Labels often come late. The new share can be estimated without them, from how the probabilities
# are spread, on the assumption that only the share has changed.

from sklearn_pairboot.calibration import adjust_prior, estimate_prior

share = estimate_prior(p, prior_old=0.3, random_state=0)
print(f"estimated share {share.estimate:.3f} [{share.ci_low:.3f}, {share.ci_high:.3f}]")

# %%
# The repair is one factor on the odds of every row: the new prior odds over the old ones. What was
# a coin toss before is now far from one.

print(f"a probability of 0.5 becomes {adjust_prior([0.5], 0.3, 0.1)[0]:.4f} = 7/34")
adjusted = adjust_prior(p, prior_old=0.3, prior_new=share.estimate)
print(f"calibration error, adjusted: {expected_calibration_error(y, adjusted, n_bins=10):.3f}")

# %%
# Before and after, on the new rows. Stale probabilities lie below the dotted line everywhere: they
# promise too much.

import matplotlib.pyplot as plt

from sklearn_pairboot.plotting import ReliabilityDisplay

models = {"stale": p, "adjusted": adjusted}
ReliabilityDisplay.from_predictions(y, models, random_state=0).plot()
plt.show()

# %%
# What it costs
# -------------
# A missed positive costs 5 and a false alarm 1, so one acts from a probability of 1/6 on. With
# stale probabilities one acts too often. The same rule, the same rows, both kinds of probabilities:

from sklearn.metrics import make_scorer

from sklearn_pairboot import compare_predictions
from sklearn_pairboot.metrics import misclassification_cost

labels = {name: (values >= 1 / 6).astype(int) for name, values in models.items()}
cost = make_scorer(misclassification_cost, greater_is_better=False, cost_fn=5, cost_fp=1)
result = compare_predictions(y, labels, scoring={"cost": cost}, random_state=0)
row = result.differences[0]
for score in result.scores:
    called = labels[score.model].mean()
    print(f"{score.model}: {called:.1%} called positive, cost {score.estimate:.3f} a row")
print(f"{row.model} - {row.baseline}: {row.difference:+.3f} [{row.ci_low:.3f}, {row.ci_high:.3f}]")

# %%
# What these data do not show
# ---------------------------
# That only the share has changed: this holds here by construction. If positive rows look different
# now, the estimate of the share is wrong, and its narrow interval does not know. The interval of
# the costs takes the estimated share as given, too. Check against labels when they come in, and
# calibrate again after a new model or new traffic.
#
# Where to go on: :ref:`sphx_glr_gallery_plot_calibration.py` for probabilities that were never
# right, :ref:`sphx_glr_gallery_plot_thresholds.py` for costs.
