"""
Five items, every resample listed
=================================

What does a bootstrap do, exactly? With five items one can list every resample, by hand or with
``n_resamples="exact"``, and check each number with a pencil. The examples below are as small as
that. Each shows one thing that goes wrong unnoticed in large data: copied rows, separate draws,
clusters of unequal size, a p-value that could not have been smaller.
"""

# %%
# Five items
# ----------
# An old and a new model have five items right or wrong. The new one is 0.2 better, which is 20
# percentage points. There are 5 x 5 x 5 x 5 x 5 equally likely ways to draw five items.

import itertools

import numpy as np

from sklearn_pairboot import compare_scores

old, new = [0, 1, 0, 0, 1], [1, 1, 1, 0, 0]

# req_A11
result = compare_scores({"old": old, "new": new}, n_resamples="exact")
row = result.differences[0]
replicates = result.replicates[:, 0, 1] - result.replicates[:, 0, 0]
mean = np.average(replicates, weights=result.multiplicities)
print(f"{result.multiplicities.sum()} resamples, {len(replicates)} different ones")
print(f"mean {mean:.1f}, SD {row.std_error:.6f}, interval [{row.ci_low:.1f}, {row.ci_high:.1f}]")

# %%
# The same in plain Python: all index sequences, one for both models.

drawn = np.array(list(itertools.product(range(5), repeat=5)))
by_hand = (np.array(new)[drawn] - np.array(old)[drawn]).mean(axis=1)
ends = np.quantile(by_hand, [0.025, 0.975])
print(f"{len(by_hand)} resamples by hand")
print(f"mean {by_hand.mean():.1f}, SD {by_hand.std():.6f}, interval [{ends[0]:.1f}, {ends[1]:.1f}]")

# %%
# The interval holds losses of 40 points and gains of 80. "Exact" means exact about drawing from
# these five items. It says nothing about a sixth one.

import matplotlib.pyplot as plt

result.plot("difference")
plt.show()

# %%
# Copied rows
# -----------
# Copy each row twenty times. A hundred rows, and nothing new in them. Drawn as if they were
# independent, they seem to know twenty times as much. Drawn as the five items that they are, the
# copies change nothing.

# req_A16
copies = {"old": old * 20, "new": new * 20}
for unit, groups in (("100 rows", None), ("5 items", list(range(5)) * 20)):
    copied = compare_scores(copies, groups=groups, n_resamples="exact").differences[0]
    print(
        f"drawing {unit}: SD {copied.std_error:.6f}, "
        f"interval [{copied.ci_low:.2f}, {copied.ci_high:.2f}]"
    )

# %%
# Shared draws and separate draws
# -------------------------------
# If both models are drawn together, two identical models never differ. Drawn apart they seem to, by
# up to one. It is often said that separate draws are at least on the safe side. Complementary
# models, each right where the other is wrong, refute that: there they look too certain.

# req_B07
a = [1, 1, 0, 0]
for name, b in (("identical", [1, 1, 0, 0]), ("complementary", [0, 0, 1, 1])):
    for paired in (True, False):
        compared = compare_scores({"b": b, "a": a}, paired=paired, n_resamples="exact")
        variance = compared.differences[0].std_error ** 2
        how = f"{'shared' if paired else 'separate'} draws, {compared.multiplicities.sum()} ways"
        print(f"{name}, {how}: variance of the difference {variance:.4f}")

# %%
# The five items above, drawn apart, have another distribution too.

apart = compare_scores({"old": old, "new": new}, paired=False, n_resamples="exact").differences[0]
print(f"five items: SD {row.std_error:.6f} shared, {apart.std_error:.6f} separate")

# %%
# A warning about counting resamples. One row of four improves, and 175 of 256 resamples favour the
# new model. That share is no probability that it is better, and no p-value.

# req_B13
one_better = compare_scores({"b": [0, 1, 0, 0], "a": a}, n_resamples="exact")
gains = one_better.replicates[:, 0, 1] - one_better.replicates[:, 0, 0]
favourable, total = one_better.multiplicities[gains > 0].sum(), one_better.multiplicities.sum()
print(f"{favourable} of {total} resamples positive, {favourable / total:.2%}")
print(f"p-value {one_better.differences[0].p_value:.3f}, {one_better.differences[0].verdict}")

# %%
# Clusters of unequal size
# ------------------------
# Ten rows in clusters of one, two, three and four. A drawn cluster brings all its rows, so that a
# resample has between 4 and 16 of them. Whether each row or each cluster counts the same is part of
# the question, and the answers differ.

# req_A19
clusters = [[1], [0, 1], [-1, 0, 1], [1, 1, 0, 0]]
values = np.concatenate(clusters)
of_row = np.repeat(range(4), [len(cluster) for cluster in clusters])
for estimand in ("rows", "clusters"):
    found = compare_scores({"gain": values}, groups=of_row, estimand=estimand, n_resamples="exact")
    score = found.scores[0]
    print(
        f"equal weight of {estimand}: {score.estimate:.1f}, SD {score.std_error:.6f}, "
        f"interval [{score.ci_low:.4f}, {score.ci_high:.4f}], of {found.multiplicities.sum()}"
    )

# %%
# Sign flips
# ----------
# Another question: if names were attached to the two answers of each item by a coin, how often
# would the difference be as large as the one seen? Four of five items improve, and one does not
# change. Of 32 ways to swap, 4 are as extreme, so p = 1/8. Four changed items cannot give a smaller
# one, whatever they are. The least possible p-value belongs beside the one that was found.

from sklearn_pairboot.inference import paired_permutation_test

# req_C05 req_C09 req_C19
before, after = [0, 0, 0, 1, 0], [1, 1, 1, 1, 1]
swaps = paired_permutation_test({"old": before, "new": after})
print(f"{swaps.n_extreme} of {swaps.n_assignments}: p = {swaps.p_value}, least {swaps.p_min}")

# %%
# Copied rows once more. By item p stays where it was. By row it becomes 2 to the power of -79.

many = {"old": before * 20, "new": after * 20}
by_item = paired_permutation_test(many, groups=list(range(5)) * 20)
by_row = paired_permutation_test(many)
print(f"100 rows, swapped by item: p = {by_item.p_value}")
print(f"100 rows, swapped by row:  p = 2**{np.log2(by_row.p_value):.0f}")

# %%
# With groups of unequal size, 3, 1, 2, 5 and 2 rows, whole groups are swapped and rows keep their
# weight. The statistic is the sum of the group totals, each with its sign, over all 13 rows.

# req_C10
totals = np.array([3, -1, 2, 5, -2])
gain = np.repeat(np.sign(totals), np.abs(totals))
unequal = paired_permutation_test(
    {"old": np.zeros(13), "new": gain}, groups=np.repeat(range(5), np.abs(totals))
)
print(f"{unequal.n_extreme} of {unequal.n_assignments}: p = {unequal.p_value}")

signs = np.array(list(itertools.product([-1, 1], repeat=5)))
sums = signs @ totals
figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
places, counts = np.unique(sums, return_counts=True)
extreme = np.abs(places) >= totals.sum()
ax.bar(places[~extreme], counts[~extreme], 1.2, color="0.7", label="less extreme")
ax.bar(
    places[extreme],
    counts[extreme],
    1.2,
    color="tab:blue",
    hatch="///",
    edgecolor="white",
    label=f"at least as extreme as {totals.sum()} of 13",
)
ax.set(
    xlabel="sum of the signed group totals (mean difference times 13)",
    ylabel="of 32 arrangements",
    xticks=range(-13, 14, 2),
    ylim=(0, 5.6),
)
ax.legend(loc="upper left", ncols=2)
plt.show()

# %%
# What all this does not show
# ---------------------------
# Exact counting removes Monte Carlo error and nothing else. Intervals from so few units cover far
# from their level, and on five or fewer the library gives no verdict at all. A sign flip needs more
# than equal means: that the two models are exchangeable within an item, which for two fixed models
# is an assumption. A large p-value is no sign of equality.
#
# Where to go on: :ref:`sphx_glr_gallery_plot_paired.py` for 500 items, and
# :ref:`sphx_glr_gallery_plot_clusters.py` for 50 clusters.
