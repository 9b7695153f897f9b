"""
Paired answers, and what pairing is worth
=========================================

Two models answer the same 500 questions. The old one has 61.0 % of them right, the new one 65.2 %.
Would a lead of 4.2 percentage points hold on other questions of the same kind?

The answers are simulated. What people often do with such a pair of rates is to test them as if two
different sets of questions had been asked. That throws away what the two models have in common.
"""

# %%
# First the wrong way, for contrast. With ``paired=False`` every model draws questions of
# its own. ``n_resamples="exact"`` leaves no Monte Carlo error in the numbers.

from pathlib import Path

import numpy as np

from sklearn_pairboot import compare_scores

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "paired.npz")
right = {"old": arrays["b"], "new": arrays["a"]}

# req_E24
apart = compare_scores(right, paired=False, n_resamples="exact").differences[0]
print(f"unpaired: {apart.difference:+.3f}, SE {apart.std_error:.4f}")
print(f"unpaired z = {apart.difference / apart.std_error:.2f}, {apart.verdict}")

# %%
# A lead of 1.38 standard errors: nothing to report. But look at the questions one by one. On 455
# of them both models are right, or both are wrong. These questions cannot tell the models apart.
# Only 45 can, and they go 33 to 12. Always report both counts: the rates alone do not contain them.

from sklearn_pairboot.plotting import PairedRowsDisplay

pairs = PairedRowsDisplay.from_scores(right).plot()
print(f"only the new model is right: {pairs.n_better}")
print(f"only the old model is right: {pairs.n_worse}")

# %%
# McNemar's test asks whether 33 to 12 could be the tosses of a fair coin. ``z`` is the same for all
# variants. The exact p-value never rejects too often. The mid-p-value, which counts half of the
# observed table, has more power. Choose one of them before looking.

from sklearn_pairboot.inference import mcnemar_test

exact = mcnemar_test(right["old"], right["new"])
mid = mcnemar_test(right["old"], right["new"], variant="mid-p")
print(f"McNemar z = {exact.statistic:.4f}")
print(f"exact p = {exact.p_value:.6f}")
print(f"mid-p   = {mid.p_value:.6f}")
print(f"interval of the difference (Tango): [{exact.ci_low:.3f}, {exact.ci_high:.3f}]")

# %%
# McNemar's test is for right and wrong. The paired bootstrap answers the same question for every
# metric, gives an interval by the way, and takes clusters. It draws a question for both models, or
# for neither.

paired_result = compare_scores(right, metric="accuracy", random_state=0)
print(paired_result)

# %%
# Both kinds of draw side by side, on one scale. The estimate is the same. The spread is not: models
# that find the same questions hard rise and fall together, and this cancels in their difference.

import matplotlib.pyplot as plt

from sklearn_pairboot.plotting import DifferenceDisplay

unpaired_result = compare_scores(right, metric="accuracy", paired=False, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), sharex=True, layout="constrained")
for ax, result, title in (
    (axes[0], unpaired_result, "other questions for each model (wrong here)"),
    (axes[1], paired_result, "the same questions for both"),
):
    DifferenceDisplay.from_result(result).plot(ax)
    ax.set_title(title, loc="left", fontweight="bold")
plt.show()

# %%
# By how much did pairing narrow it? The variance of a difference is Var(new) + Var(old) - 2 Cov.
# The covariance is what the wrong way leaves out. To reach the same precision with separate samples
# would take about five times as many questions for each model.

together = paired_result.differences[0]
print(f"SE paired {together.std_error:.4f}, unpaired {apart.std_error:.4f}")
print(f"ratio of variances: {(apart.std_error / together.std_error) ** 2:.1f}")

# %%
# More power is not unlimited power. With 45 questions that tell the models apart, a lead
# of one point is far out of reach.

from sklearn_pairboot.planning import minimum_detectable_difference, required_units

# req_E25
differences = right["new"] - right["old"]
print(f"detectable with power 0.8: {minimum_detectable_difference(differences):.3f}")
print(f"questions needed for one point: {required_units(differences, difference=0.01):,}")

# %%
# What these data do not show
# ---------------------------
# That 4.2 points matter: this is for whoever pays for the model to say, and the interval reaches
# down to gains of less than two. That the next training run of the new model would be as good: both
# models are held fixed. And nothing of this holds if the questions come in groups, such as many
# from one template: see :ref:`sphx_glr_gallery_plot_clusters.py`.
#
# Where to go on: :ref:`sphx_glr_gallery_plot_multiple_benchmarks.py` has two models on twenty sets
# of questions.
