"""
A judge that prefers what it reads first
========================================

A language model judges pairs of answers, A and B. How much of its verdict is about the answers, and
how much about the order in which it read them?

What is often done is to show every pair once, in a fixed or random order, and to count wins. A
random order spreads the bias evenly and hides it. It does not remove it. Show every pair in both
orders instead. The judgements here are simulated, 1,000 pairs with a human choice for each.
"""

# %%
# Each pair has two verdicts. ``position_bias`` reads both, item by item.

from pathlib import Path

import numpy as np

from sklearn_pairboot.agreement import position_bias

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "kappa.npz")

# req_E16
found = position_bias(arrays["j_ab"], arrays["j_ba"], human=arrays["human"], random_state=0)
print(found.summary())

# %%
# The same numbers, one by one. An unbiased judge would choose A as often second as first, a gap of
# 0. The gap is a paired difference, and its interval comes from drawing items, both verdicts with
# each.

print(f"A chosen when first {found.chosen_first.value:.3f}, second {found.chosen_second.value:.3f}")
print(f"gap {found.gap.value:+.3f} [{found.gap.ci_low:.3f}, {found.gap.ci_high:.3f}]")
print(f"verdict changes with the order: {found.inconsistent.value:.1%}")
print(f"agreement with the human on consistent items: {found.human_agreement.value:.3f}")

# %%
# The rates tell only part of it. Verdicts that turn towards the first answer and verdicts that turn
# away from it cancel in the gap of 21 points; together they are 43 % of the pairs.

import matplotlib.pyplot as plt


def share_of(first, second):
    """Share of the items with this verdict in both orders, 1 for A."""
    return np.mean((arrays["j_ab"] == first) & (arrays["j_ba"] == second))


shares = {
    "A both times": share_of(1, 1),
    "B both times": share_of(0, 0),
    "first answer both times": share_of(1, 0),
    "second answer both times": share_of(0, 1),
}
figure, ax = plt.subplots(figsize=(6.8, 2.8), layout="constrained")
colors = ["tab:blue", "tab:blue", "tab:orange", "tab:orange"]
bars = ax.barh(list(shares), list(shares.values()), color=colors)
for bar in bars[2:]:
    bar.set_hatch("///")
    bar.set_edgecolor("white")
ax.bar_label(bars, fmt="{:.1%}", padding=3)
ax.invert_yaxis()
ax.set(xlabel="share of the pairs", xlim=(0, 0.42))
plt.show()

# %%
# Two rules are fair: count a verdict only if it holds in both orders and call the rest a tie, or
# average over both orders. By the first the judge agrees with the human far more often, on fewer
# items, and not a random part of them. Report how many are left.

single = np.mean(arrays["j_ab"] == arrays["human"])
print(f"agreement of a single verdict with the human: {single:.3f}, on all {found.n_items}")
print(f"of verdicts that hold twice: {found.human_agreement.value:.3f}, on {found.n_consistent}")

# %%
# What swapping the order does not mend
# -------------------------------------
# A second simulation, with 2,000 pairs. This judge favours the first answer, and the longer one.
# Length stays with its answer when the order changes, so this bias passes the test of both orders.

arrays = np.load(DATA / "experiments" / "judgebias.npz")
orders = arrays["position_and_length_order1"], arrays["position_and_length_order2"]

# req_E17
biased = position_bias(
    *orders, human=arrays["human"], attributes={"length": arrays["longer"]}, random_state=0
)
longer = biased.attributes["length"]
print(
    f"single verdicts for the longer answer: "
    f"{np.mean(arrays['position_and_length_single'] == arrays['longer']):.2f}"
)
print(f"consistent verdicts for it: {longer.value:.2f} [{longer.ci_low:.2f}, {longer.ci_high:.2f}]")
print(f"human choices of it: {np.mean(arrays['human'] == arrays['longer']):.2f}")

# %%
# The bias has become more concentrated, from 65 % to 81 %, by the very step that was to clean up:
# among the verdicts that position did not decide, length decides more. Humans prefer the longer
# answer in about half of these pairs. A judge without a taste for length, but with the same one for
# the first place, shows that it is length and nothing else that gets through:

unbiased = position_bias(
    arrays["position_only_order1"],
    arrays["position_only_order2"],
    attributes={"length": arrays["longer"]},
    random_state=0,
)
looks = {"position only": unbiased, "position and length": biased}
singles = {
    "position only": arrays["position_only_single"],
    "position and length": arrays["position_and_length_single"],
}
figure, ax = plt.subplots(figsize=(6.8, 3.0), layout="constrained")
for place, (name, bias) in enumerate(looks.items()):
    of_length = bias.attributes["length"]
    ax.plot(np.mean(singles[name] == arrays["longer"]), place - 0.12, "s", color="0.4")
    ends = [[of_length.value - of_length.ci_low], [of_length.ci_high - of_length.value]]
    ax.errorbar(of_length.value, place + 0.12, xerr=ends, fmt="o", color="tab:blue", capsize=4)
ax.plot([], [], "s", color="0.4", label="single verdicts")
ax.errorbar([], [], xerr=[], fmt="o", color="tab:blue", label="same verdict in both orders (95 %)")
ax.axvline(0.5, color="0.6", linestyle=":")
ax.set(
    yticks=range(len(looks)),
    yticklabels=list(looks),
    ylim=(1.6, -0.9),
    xlim=(0.4, 0.9),
    xlabel="share of verdicts for the longer answer",
)
ax.legend(loc="upper right", ncols=2, fontsize="small")
plt.show()

# %%
# So say "corrected for position", and never "free of bias". Length, the judge's own style and words
# of the rubric need controls of their own: pairs of matched length, other judges, a look at what is
# chosen. Several judges together give steadier verdicts, and keep every bias that they share.
#
# Where to go on: if the pairs come from few prompts, pass ``groups=``; why is the subject of
# :ref:`sphx_glr_gallery_plot_clusters.py`.
