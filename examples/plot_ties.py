"""
The area under the ROC curve when scores are equal
==================================================

A rating from 1 to 5, a probability rounded to one decimal, the vote of ten trees: such scores are
equal for many rows. What is the area under the ROC curve then? Whoever sorts the rows and walks
through them one by one gets an answer that depends on the order in which equal rows happened to
stand in the file.
"""

# %%
# Six rows are enough to see it. Two pairs of a positive and a negative row have equal
# scores. A loop over sorted rows takes them in the order of the file.

from pathlib import Path

import numpy as np

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "ties.npz")
y, scores = arrays["y6"], arrays["p6"]


def area_row_by_row(y, scores):
    """Count, for each negative row, the positive rows that stand before it. Wrong with ties."""
    ordered = y[np.argsort(-scores, kind="stable")]
    return np.cumsum(ordered)[ordered == 0].sum() / (ordered.sum() * (ordered == 0).sum())


# req_E04
lucky = np.lexsort((-y, -scores))  # of equal rows the positive ones first
unlucky = np.lexsort((y, -scores))
for name, rows in (("positive rows first", lucky), ("negative rows first", unlucky)):
    print(f"row by row, {name}: {area_row_by_row(y[rows], scores[rows]):.4f}")

# %%
# The area is the probability that a positive row has the higher score, and an equal score counts
# half. That is no convention of convenience: it is what one gets, on average, by breaking ties with
# a coin. Here 6 of 9 pairs are in order and 2 are tied: (6 + 1) / 9.

from sklearn_pairboot.metrics import auc_ties, tie_aware_auc

rng = np.random.default_rng(0)
for _ in range(3):
    rows = rng.permutation(6)
    area = tie_aware_auc(y[rows], scores[rows])
    print(f"order {rows}: {area:.4f} = {area * 9:.0f}/9")

# %%
# Now 2,400 rows, and the same probabilities at three resolutions. Report how many distinct
# scores there are next to the area. ``lowest`` and ``highest`` are what an order of rows could make
# of the same data: no confidence interval, but the room for accidents.

resolutions = {
    "exact": arrays["p"],
    "rounded to tenths": arrays["p_round1"],
    "rounded to halves": arrays["p_round_half"],
}
# req_E05
for name, p in resolutions.items():
    ties = auc_ties(arrays["y"], p)
    print(
        f"{name}: AUC {ties.auc:.4f}, {ties.n_distinct} distinct scores, "
        f"{ties.n_tied_pairs / ties.n_pairs:.1%} of pairs tied, "
        f"possible by order alone [{ties.lowest:.4f}, {ties.highest:.4f}]"
    )

# %%
# With three distinct scores two programs could report 0.91 and 0.99 for one and the same file. Such
# a gap is larger than most differences between models that anybody publishes.
#
# As a curve: a block of equal scores is one straight, sloping piece. Half of the rectangle that it
# crosses lies below it, which is the half that ties count.

import matplotlib.pyplot as plt

from sklearn_pairboot.plotting import RocDisplay

display = RocDisplay.from_predictions(arrays["y"], resolutions, random_state=0).plot()
display.ax_.set(xlim=(-0.005, 0.4), ylim=(0.6, 1.005))
plt.show()

# %%
# Rounding costs area by itself, since rows that could be told apart no longer are. Is the loss more
# than an accident of these rows? The same rows serve all three, so the comparison is paired, and
# far sharper than the three bands suggest.

from sklearn_pairboot import TieAwareAUC, compare_predictions

result = compare_predictions(
    arrays["y"], resolutions, scoring={"AUC": TieAwareAUC()}, random_state=0
)
for row in result.differences:
    print(
        f"{row.model}: {row.difference:+.4f} [{row.ci_low:.4f}, {row.ci_high:.4f}], {row.verdict}"
    )

# %%
# An area below one half is no error either. It says that the scores point to the other
# class.

# req_E03
reversed_area = tie_aware_auc(arrays["y"], -arrays["p"])
print(f"scores reversed: {reversed_area:.4f} = 1 - {1 - reversed_area:.4f}")

# %%
# What this does not show
# -----------------------
# An area compares rankings. It tells nothing about any threshold, nor whether a probability of 0.8
# comes true eight times out of ten; that is calibration, which an area does not see. And the
# verdicts above are about this one model and its rounding, for rows like these.
#
# Where to go on: ``ClusterBootstrapScorer`` and ``TieAwareAUC`` go wherever scikit-learn takes
# ``scoring=``; thresholds are the subject of :ref:`sphx_glr_gallery_plot_protocol.py`.
