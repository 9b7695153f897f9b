"""
One table of counts, many metrics
=================================

A filter reads 2,400 messages and flags the harmful ones. How good is it? One table of four counts
answers, and accuracy, precision, recall and F1 are four ways to read it. What is often left out is
how far each of these numbers would move with other messages of the same kind: a precision of 0.92
looks the same whether 25 messages were flagged or 1,229.

The data are simulated, and about half of the messages are harmful.
"""

# %%
# .. req_E01
#
# Count first. Every metric of labels is computed from these four numbers, so whoever has
# them can check the rest.

from pathlib import Path

import numpy as np

from sklearn_pairboot.metrics import threshold_curve

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "metrics.npz")
y, p = arrays["y"], arrays["p"]

at_half = threshold_curve(y, p, thresholds=[0.5])
counts = {
    "TP": int(at_half.true_positives[0]),
    "FP": int(at_half.false_positives[0]),
    "FN": int(at_half.false_negatives[0]),
    "TN": int(at_half.true_negatives[0]),
}
print(counts)

# %%
# Precision looks at a column of the table: of what was flagged, how much is harmful? Recall looks
# at a row: of what is harmful, how much was flagged? F1 is their harmonic mean. It lies near the
# smaller of the two, so nobody can buy it with one of them alone.

print(f"precision {at_half.precision[0]:.4f} = {counts['TP']} / {counts['TP'] + counts['FP']}")
print(f"recall    {at_half.recall[0]:.4f} = {counts['TP']} / {counts['TP'] + counts['FN']}")
print(f"F1        {at_half.f1[0]:.4f}")
print(f"false positive rate {at_half.false_positive_rate[0]:.4f}")

# %%
# Where nothing is flagged, precision is 0/0. Some programs print 0 there, others 1, others stop. A
# curve says "not a number", and a comparison keeps scikit-learn's convention and counts how often
# it was needed.

print("precision above the highest score:", threshold_curve(y, p, thresholds=[1.0]).precision[0])

# %%
# Now the intervals. A model has two kinds of answers here: labels for precision and recall, and
# probabilities for the area under the ROC curve (AUC). A recorded estimator holds both. All five
# metrics come from the same resamples of the messages.

from sklearn_pairboot import RecordedEstimator, compare_predictions

answers = RecordedEstimator.from_arrays(
    predict=(p >= 0.5).astype(int), predict_proba=np.column_stack([1 - p, p]), classes=[0, 1]
)
result = compare_predictions(
    y,
    {"filter": answers},
    scoring=["accuracy", "precision", "recall", "f1", "roc_auc"],
    random_state=0,
)
for row in result.scores:
    name, low, high = f"{row.metric:9s}", f"{row.ci_low:.4f}", f"{row.ci_high:.4f}"
    print(f"{name} {row.estimate:.4f}, 95 % interval [{low}, {high}]")

# %%
# Two pictures of the same thing. The table on the left holds the counts; on the right, each metric
# has the interval that its own number of messages allows. Precision rests on 1,229 flagged
# messages, recall on 1,206 harmful ones, accuracy on all 2,400. AUC has the narrowest interval, and
# also a scale of its own: that does not make it the better metric for telling two models apart.

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.6), width_ratios=(1, 1.6), layout="constrained"
)
table = np.array([[counts["TP"], counts["FN"]], [counts["FP"], counts["TN"]]])
left.imshow(table, cmap="Greys", vmin=0, vmax=3 * table.max())
for (line, column), count in np.ndenumerate(table):
    name = ("TP", "FN", "FP", "TN")[2 * line + column]
    left.text(column, line, f"{name}\n{count}", ha="center", va="center", fontsize="large")
left.set_xticks([0, 1], ["flagged", "not flagged"])
left.set_yticks([0, 1], ["harmful", "harmless"])
left.set_title("Messages", loc="left")

for place, row in enumerate(result.scores):
    right.plot([row.ci_low, row.ci_high], [place, place], color="0.4", linewidth=2)
    right.plot(row.estimate, place, "o", color="tab:blue")
right.set_yticks(range(len(result.scores)), [row.metric for row in result.scores])
right.margins(y=0.15)
right.invert_yaxis()
right.set(xlabel="score (higher is better)")
right.set_title("Estimates and 95 % intervals", loc="left")
plt.show()

# %%
# .. req_E06
#
# Which of them should decide? AUC compares classifiers without a threshold. Precision and
# recall belong to one threshold, and change with it. A model can have the higher AUC and the lower
# recall at 0.5; this is no contradiction, only two questions.
#
# What these data do not show
# ---------------------------
# The messages are half harmful. In a stream with one harmful message in a hundred, the same filter
# would have the same recall and false positive rate, and a far lower precision:

rate = 0.01
hits = rate * at_half.recall[0]
alarms = (1 - rate) * at_half.false_positive_rate[0]
print(f"precision at 1 % harmful messages: {hits / (hits + alarms):.2f}")

# %%
# No interval above covers this: all of them speak about messages drawn as these were.
#
# Where to go on: :ref:`sphx_glr_gallery_plot_thresholds.py` moves the threshold of this filter, and
# :ref:`sphx_glr_gallery_plot_imbalance.py` has few positive rows.
