"""
What the plus-minus of a cross-validation means
===============================================

"Accuracy 0.763 +- 0.014, from five folds." How far would the number move with other data of the
same kind?

Many papers take 0.014, the standard deviation of the fold scores over the root of five, for the
standard error of a new data set. Folds are no independent repetitions: any two of five share three
quarters of their training rows. Here the data are simulated, so that one can look: 200 other splits
of the same 300 rows, and 200 fresh data sets of 300 rows.
"""

# %%
# The five folds first.

from pathlib import Path

import numpy as np

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "cvdep.npz")
k = 5

# req_E19
folds = arrays["cv0"]
print(f"folds {np.round(folds, 3)}, mean {folds.mean():.3f}")
print(f"fold SD / sqrt({k}) = {folds.std(ddof=1) / np.sqrt(k):.3f}")
print(f"training rows that two folds share: {(k - 2) / (k - 1):.2f}")

# %%
# Now the same rows split in 200 other ways, and 200 fresh data sets. The mean over five folds, 200
# times each:

# req_E20
splits, fresh = arrays["fold_scores_200_splits"], arrays["fold_scores_200_fresh"]
sd_splits, sd_fresh = (scores.mean(axis=1).std(ddof=1) for scores in (splits, fresh))
print(f"SD of the mean over 200 splits of the same rows: {sd_splits:.3f}")
print(f"SD of the mean over 200 fresh data sets:         {sd_fresh:.3f}")
print(f"the second is {sd_fresh / sd_splits:.1f} times the first")

# %%
# The repeated splits seem to confirm 0.014. They do not: they say how much of the number is the
# luck of the split. All 200 have the same 300 rows, and what is peculiar to these rows is in every
# one of them: they are harder than most, as the left picture shows. Fresh data move the number
# twice as far.
#
# And 0.014 itself was a lucky draw. Five folds estimate a spread badly: the same formula on the
# other splits gives anything from less than half to more than four times as much.

import matplotlib.pyplot as plt

claimed = splits.std(axis=1, ddof=1) / np.sqrt(k)
print(f"fold SD / sqrt({k}) over the 200 splits: {claimed.min():.3f} to {claimed.max():.3f}")

figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained")
bins = np.arange(0.705, 0.885, 0.01)
axes[0].hist(splits.mean(axis=1), bins, color="0.7", hatch="///", edgecolor="white", label="splits")
axes[0].hist(
    fresh.mean(axis=1), bins, histtype="step", color="tab:blue", linewidth=2, label="fresh data"
)
axes[0].set(xlabel="mean accuracy of five folds", ylabel="of 200", title="How far it moves")
axes[1].hist(claimed, 20, color="0.7")
for value, line, name in (
    (folds.std(ddof=1) / np.sqrt(k), ":", "the five folds above"),
    (sd_splits, "--", "actual, other splits"),
    (sd_fresh, "-", "actual, fresh data"),
):
    axes[1].axvline(value, color="tab:blue", linestyle=line, label=f"{name}: {value:.3f}")
axes[1].set(xlabel="fold SD / sqrt(5), claimed by one split", title="How far it is said to move")
for ax in axes:
    ax.legend(fontsize="small")
plt.show()

# %%
# Two methods
# -----------
# The same mistake costs more when two methods are compared, and more folds make it worse. Ten times
# five folds are 50 differences. An ordinary paired t test takes them for 50 independent ones. But
# there are still only 300 rows. This pair is shown because the two tests part so clearly on it; on
# other pairs of methods they often agree.

from scipy.stats import ttest_1samp
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

X, y = arrays["X"], arrays["y"]
cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
folds_of_both = list(cv.split(X, y))
models = {
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "naive Bayes": GaussianNB(),
}
validated = {
    name: cross_validate(model, X, y, cv=folds_of_both, return_indices=True, return_estimator=True)
    for name, model in models.items()
}
scores = {name: found["test_score"] for name, found in validated.items()}
differences = scores["naive Bayes"] - scores["tree"]
ordinary = ttest_1samp(differences, 0)
print(f"naive Bayes - tree, mean of 50 folds: {differences.mean():+.3f}")
print(f"ordinary t test of 50 folds: p = {ordinary.pvalue:.5f}")

# %%
# The corrected resampled t test of Nadeau and Bengio allows for the shared training rows. It adds
# the ratio of test to training rows to the factor of the variance: 1/50 becomes 1/50 + 60/240.

from sklearn_pairboot.inference import corrected_resampled_ttest

test = corrected_resampled_ttest(differences, n_train=240, n_test=60)
print(f"corrected resampled t test:  p = {test.p_value:.2f}")
print(f"interval [{test.ci_low:.3f}, {test.ci_high:.3f}]")

# %%
# ``compare_cross_validate`` has the same test beside the bootstrap of the rows. The two answer
# different questions: the bootstrap asks about these trained fold models on other test rows, the
# corrected test about the methods, trained on other rows as well.

from sklearn_pairboot import compare_cross_validate

result = compare_cross_validate(validated, X, y, scoring="accuracy", random_state=0)
row, split_test = result.differences[0], result.split_tests[0]
print(f"these models, other test rows: [{row.ci_low:.3f}, {row.ci_high:.3f}]")
print(f"the methods, other rows:       [{split_test.ci_low:.3f}, {split_test.ci_high:.3f}]")

# %%
# What this does not show
# -----------------------
# The correction is a rule of thumb that works for random splits; no unbiased estimate of that
# variance exists. It says nothing about a method whose parameters were tuned on these very folds.
# And a plus-minus is not wrong as such: say what it is, "standard deviation over five folds".
#
# Where to go on: choose by cross-validation, train once more, and compare the final models on rows
# that nobody has used: :ref:`sphx_glr_gallery_plot_protocol.py`.
