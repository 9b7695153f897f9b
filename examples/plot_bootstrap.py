"""
How sure is one accuracy?
=========================

A model has 307 of 500 items right: 61.4 %. Another 500 items of the same kind would give another
number. How far away could it be? Before anybody prints a third digit, this is the width to look
at. (A lead over another model has an interval of its own: that of the difference.)
"""

# %%
# .. req_E22
#
# The bootstrap draws 500 of the 500 items, with replacement, and computes the accuracy
# again; 5,000 times. Some items are drawn twice and some never: that is the point, so nothing is
# removed. Here are the means of such a loop written by hand, which come with the data.

from pathlib import Path

import numpy as np

from sklearn_pairboot import compare_scores

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "bootstrap.npz")
correct = arrays["correct"]
print(f"{correct.sum()} of {len(correct)} right, accuracy {correct.mean():.3f}")

low, high = np.quantile(arrays["boots"], [0.025, 0.975])
print(f"by hand, 95 % percentile interval [{low:.3f}, {high:.3f}]")

# %%
# By this library, with three seeds. An accuracy of 500 items moves in steps of 0.002, and an end of
# the interval can fall on one step or on the next. This is Monte Carlo error. It belongs to the
# 5,000 draws and has nothing to say about the model: fix the seed in advance, and do not pick one.

for seed in (0, 1, 2):
    result = compare_scores({"model": correct}, n_resamples=5000, random_state=seed)
    row = result.scores[0]
    print(f"seed {seed}: [{row.ci_low:.3f}, {row.ci_high:.3f}], SE {row.std_error:.4f}")

# %%
# For a mean, all 500^500 resamples can be counted without drawing any. That leaves no Monte Carlo
# error. It does not make the interval any better: the 500 items are the same.

exact = compare_scores({"model": correct}, n_resamples="exact").scores[0]
print(f"all resamples: [{exact.ci_low:.3f}, {exact.ci_high:.3f}], SE {exact.std_error:.4f}")

# %%
# .. req_E21
#
# Two checks by formula. The binomial standard error is sqrt(p (1 - p) / n), and 1.96 times
# it is half the width of the interval: more than four percentage points to either side. Wilson's
# interval needs no resampling, and for a single rate of independent items it is the better tool.

from sklearn_pairboot.inference import rate_interval

wilson = rate_interval(int(correct.sum()), len(correct))
print(f"binomial SE {wilson.std_error:.4f}, 1.96 SE = {196 * wilson.std_error:.1f} points")
print(f"Wilson: [{wilson.ci_low:.4f}, {wilson.ci_high:.4f}]")

# %%
# On the left the resampled accuracies. On the right the ends of the interval as resamples are
# added: they settle, but they do not move towards one another. More resamples give a steadier
# interval, only more items give a narrower one.

import matplotlib.pyplot as plt

from sklearn_pairboot.plotting import ConvergenceDisplay, DifferenceDisplay

result = compare_scores({"model": correct}, metric="accuracy", n_resamples=5000, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
DifferenceDisplay.from_result(result).plot(axes[0])
ConvergenceDisplay.from_result(result).plot(axes[1])
plt.show()

# %%
# How many items for half a width of one point? The width falls with the root of n.

rate = correct.mean()
for half_width in (0.04, 0.02, 0.01):
    n = rate * (1 - rate) * (1.96 / half_width) ** 2
    print(f"+- {100 * half_width:.0f} points: {n:,.0f} items")

# %%
# The bootstrap earns its keep where there is no such formula: for F1, for an area under a curve,
# for items in clusters, for differences. The steps stay the same. Any scorer will do, as here the
# median error of 200 simulated forecasts, which is computed anew on each resample.

from sklearn_pairboot import compare_predictions

rng = np.random.default_rng(0)
truth = rng.normal(size=200)
forecast = truth + rng.laplace(size=200)
errors = compare_predictions(
    truth,
    {"model": forecast},
    scoring="neg_median_absolute_error",
    n_resamples=999,
    random_state=0,
)
row = errors.scores[0]
print(f"{row.metric} {row.estimate:.2f} [{row.ci_low:.2f}, {row.ci_high:.2f}]")

# %%
# What these data do not show
# ---------------------------
# "The truth lies in this interval with 95 % probability" is not what it says. The procedure, used
# again and again on such samples, covers the true rate about 95 times in 100. Whether these 500
# items resemble those that the model will meet, whether they depend on each other, and whether
# their labels are right, the bootstrap cannot see.
#
# Where to go on: :ref:`sphx_glr_gallery_plot_paired.py` for two models on the same items,
# :ref:`sphx_glr_gallery_plot_clusters.py` for items that come in groups.
