"""
Cross-validation or bootstrap?
==============================

Both give a score with a plus-minus, so they are often taken for two ways to the same thing. They
answer different questions. Cross-validation asks how good a *method* is, trained on rows like
these. The bootstrap of test rows asks how good a *trained model* is, on other rows like these.
Which of the two do you want to report?
"""

# %%
# .. req_E19
#
# 300 simulated rows. A single split tests on 60 of them, and which 60 is an accident. Five folds
# test every row once, and their mean is far steadier.

from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "cvdep.npz")
X, y = arrays["X"], arrays["y"]
models = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "bayes": GaussianNB(),
}

scores = arrays["fold_scores_200_splits"]  # of the logistic regression; they take 1,000 fits
single, five_folds = scores[:, 0], scores.mean(axis=1)
for name, means in (("a single split", single), ("five folds", five_folds)):
    spread = f"{means.min():.2f} to {means.max():.2f}, SD {means.std(ddof=1):.3f}"
    print(f"{name}, over 200 splits: {spread}")

# %%
# .. req_E20
#
# One run of five folds, and the plus-minus that is usually printed with it. Here it happens to come
# near the SD over other splits. Fresh rows of the same kind would move the mean twice as far, see
# :ref:`sphx_glr_gallery_plot_fold_dependence.py`. Say what the number is, "fold SD over the root of
# five", and do not call it a standard error.

splits = list(KFold(5, shuffle=True, random_state=0).split(X))
results = {
    name: cross_validate(model, X, y, cv=splits, return_indices=True, return_estimator=True)
    for name, model in models.items()
}
folds = results["logistic"]["test_score"]
print("folds:", folds.round(3))
print(f"mean {folds.mean():.3f}, fold SD / sqrt(5) = {folds.std(ddof=1) / np.sqrt(5):.3f}")

# %%
# Two methods, two questions
# --------------------------
# ``compare_cross_validate`` takes what ``cross_validate`` returned for both methods, on the same
# splits. The bootstrap holds the five fitted pairs of models fixed and draws test rows. The
# corrected resampled t test also allows for other training rows. The second is the harder question,
# so its interval is wider.

from sklearn_pairboot import compare_cross_validate

result = compare_cross_validate(results, X, y, scoring="accuracy", random_state=0)
row, test = result.differences[0], result.split_tests[0]
print(f"bayes - logistic: {row.difference:+.3f}")
print(f"these fitted models: [{row.ci_low:.3f}, {row.ci_high:.3f}], p = {row.p_value:.3f}")
print(f"the two methods:     [{test.ci_low:.3f}, {test.ci_high:.3f}], p = {test.p_value:.3f}")

# %%
# So these models differ, and whether the methods do is open. Whoever prints only the first interval
# in a paper about methods claims too much.

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.8), layout="constrained")
bins = (np.arange(33, 54) - 0.5) / 60  # steps of one test row
left.hist(single, bins, color="0.75", label="a single split, 60 test rows")
left.hist(
    five_folds, bins, histtype="step", color="tab:blue", linewidth=2, label="mean of five folds"
)
left.set(xlabel="accuracy of the logistic regression", ylabel="of 200 splits of the same rows")
left.set_ylim(0, 150)
left.legend(fontsize="small", loc="upper right")

answers = (
    ("fitted models,\nother test rows", row, "o"),
    ("methods, other\ntraining rows too", test, "s"),
)
for place, (_, answer, marker) in enumerate(answers):
    right.plot([answer.ci_low, answer.ci_high], [place, place], color="0.4", linewidth=2)
    right.plot(answer.difference, place, marker, color="tab:blue")
right.axvline(0, color="0.5", linestyle=":")
right.set_yticks([0, 1], [name for name, *_ in answers])
right.set(xlabel="accuracy, bayes - logistic, 95 % intervals", ylim=(1.6, -0.6))
plt.show()

# %%
# .. req_D22
#
# Both, one after the other
# -------------------------
# Choose by cross-validation, fit the choice once more on all of the rows that chose, and bootstrap
# that model on rows that played no part. Here 200 rows choose between methods, and 100 are kept.

from sklearn_pairboot import compare_estimators

chosen_on, kept = slice(0, 200), slice(200, None)
means = {
    name: cross_val_score(model, X[chosen_on], y[chosen_on], cv=5).mean()
    for name, model in models.items()
}
winner = max(means, key=means.get)
print("cross-validated:", {name: f"{mean:.3f}" for name, mean in means.items()})

final = models[winner].fit(X[chosen_on], y[chosen_on])
score = compare_estimators(
    {winner: final}, X[kept], y[kept], scoring="accuracy", random_state=0
).scores[0]
print(f"{winner} on kept rows: {score.estimate:.2f} [{score.ci_low:.2f}, {score.ci_high:.2f}]")

# %%
# The score on the kept rows owes nothing to the choice. Its interval is wide, because 100 rows are
# few. That is the price of the split, and with 300 rows there is no free way around it.
#
# What these data do not show
# ---------------------------
# The winner's cross-validated mean is a little too good, since it was the best of two; of twenty it
# would be worse, see ``sklearn_pairboot.bias_corrected_selection``. And neither way sees what
# retraining with another seed would do, where a method has seeds.
#
# Where to go on: :ref:`sphx_glr_gallery_plot_training_variability.py`, and
# :ref:`sphx_glr_gallery_plot_protocol.py` for thresholds and calibration.
