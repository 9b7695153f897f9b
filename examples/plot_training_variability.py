"""
Is the method better, or only this training run?
================================================

Two methods are each trained once and compared on test rows. The interval excludes 0, the paper is
written. Then somebody changes the seed. What does such an interval hold for, and how does one
compare methods instead of runs?
"""

# %%
# What people usually do
# ----------------------
# One fit each, with the same seed "to be fair". The rows are simulated. A small forest and a small
# stochastic gradient boosting learn from 200 of them and are tested on 2,000.

from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

X, y = make_classification(
    n_samples=2200, n_features=20, n_informative=6, class_sep=0.8, flip_y=0.1, random_state=3
)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=200, random_state=0)
methods = {
    "forest": RandomForestClassifier(n_estimators=12),
    "boosting": GradientBoostingClassifier(n_estimators=20, subsample=0.7),
}

# %%
# :func:`~sklearn_pairboot.compare_methods` fits both with several seeds, and keeps the seeds in
# ``training``. First, each of its pairs of models on its own, as if it were the only one.
#
# req_D14: a seed means something else to each method, so that sharing one makes nothing fair: it
# picks one model of each at random.

from sklearn.base import clone

from sklearn_pairboot import compare_estimators, compare_methods

parts = X_train, y_train, X_test, y_test
seeds = compare_methods(methods, *parts, n_seeds=8, n_resamples=1999, random_state=0)

single = []
for fit in seeds.training["fits"]:
    fitted = {
        name: clone(method).set_params(random_state=fit["seed"]).fit(X_train, y_train)
        for name, method in methods.items()
    }
    pair = compare_estimators(fitted, X_test, y_test, n_resamples=1999, random_state=0)
    row = pair.differences[0]
    single.append(row)
    print(f"seed {fit['seed']}: {row.difference:+.4f} [{row.ci_low:+.4f}, {row.ci_high:+.4f}]")

# %%
# Every line is right about its own two models, and none of them is about the methods: by chance
# one reports a gain of 3 points or one of 8.
#
# Two questions, two names
# ------------------------
# req_D15: now all fits together, on the same resamples of test rows. "The method's average" asks
# which method to choose. "One model drawn from the method" asks what somebody gets who trains once.
# It is wide, and more seeds do not make it narrower.

print(seeds)

# %%
# The same two targets can be checked by hand on two seeds and four items, with every resample
# enumerated: 2 seeds times 256 draws of items are pooled for one model, and 4 draws of seeds times
# 256 for the average by the crossed bootstrap. The scores are 1 for a right answer.

from sklearn_pairboot import compare_runs

small = compare_runs(
    {"B": [[0, 0, 1, 1], [0, 1, 0, 0]], "A": [[1, 0, 1, 1], [1, 1, 1, 0]]}, n_resamples="exact"
).differences[0]
print(f"A - B = {small.estimate}")
for name, target in (
    ("one model drawn from the method", small.one_model),
    ("the method's average, crossed bootstrap", small.crossed),
    ("these fits only", small.test_rows_only),
):
    print(f"{name}: SD {target.std_error:.4f} [{target.ci_low:g}, {target.ci_high:g}]")

# %%
# With two seeds and four items all of this is far too little to decide anything; it only shows what
# is computed. For real numbers use ``average``, which goes by variance components and Student's t.
#
# Other training rows
# -------------------
# req_D16: so far all fits share the same 200 rows. Resampled training sets show what these rows
# contribute. Every set needs new fits: 10 to 20 sets are what one can usually afford.

sets = compare_methods(
    methods, *parts, n_train_resamples=12, n_seeds=2, n_resamples=1999, random_state=0
)
average = sets.differences[0].average
print(f"12 training sets of 2 seeds: {sets.differences[0].estimate:+.4f}", end=" ")
print(f"[{average.ci_low:+.4f}, {average.ci_high:+.4f}] {sets.differences[0].verdict}")
for part in sets.differences[0].variances:
    print(f"  {part.source}: {part.share:.0%} of the variance")

# %%
# Left, all of it on one axis. Right, where the variance of the average comes from: this says what
# to spend on, more seeds, training sets, or test rows.

import matplotlib.pyplot as plt

from sklearn_pairboot.plotting import VarianceSharesDisplay

lines = [(f"pair {k}", row.difference, row.ci_low, row.ci_high) for k, row in enumerate(single, 1)]
for name, result in (("8 seeds", seeds), ("12 training sets", sets)):
    row = result.differences[0]
    for target, of_row in (("average", row.average), ("one model", row.one_model)):
        lines.append((f"{name}: {target}", row.estimate, of_row.ci_low, of_row.ci_high))
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", width_ratios=[1.2, 1])
for place, (_, estimate, low, high) in enumerate(lines):
    color = "0.5" if place < len(single) else "C0"
    axes[0].plot([low, high], [place, place], color=color, linewidth=2)
    axes[0].plot(estimate, place, "o", color=color)
axes[0].axvline(0, color="black", linewidth=1)
axes[0].set_yticks(range(len(lines)), [name for name, *_ in lines])
axes[0].invert_yaxis()
axes[0].set(xlabel="accuracy, boosting - forest", title="95 % intervals")
VarianceSharesDisplay.from_result(sets).plot(axes[1])
plt.show()

# %%
# req_D17: on one training set, boosting was clearly better. Over several, the data do not settle
# it: some of the gain may have been luck with these 200 rows, and no number of seeds or test rows
# would have shown that. What would more work buy? The components predict the standard error of
# other designs.

row = sets.differences[0]
for design in ({}, {"n_seeds": 6}, {"n_sets": 24}, {"n_items": 4000}):
    label = ", ".join(f"{name} = {n}" for name, n in design.items()) or "as it is"
    print(f"{label}: SE {row.predict_std_error(**design):.4f}")

# %%
# Hardly anything: more resamples of the same 200 rows cannot replace rows that were never
# collected. Training sets that are collected anew would help.
#
# What these data do not show
# ---------------------------
# Nothing about other tasks, and nothing about methods whose parameters were tuned on these rows.
# Resamples of one training sample hold fewer distinct rows than the sample itself: a method that
# gains from many rows looks worse on them than it would on new ones.
#
# Where to go on: the guide on training variability has the formulas, and
# :func:`~sklearn_pairboot.compare_runs` takes tables of scores from runs that exist already.
