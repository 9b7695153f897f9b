"""
Agreement, and agreement beyond chance
======================================

A language model judges which of two answers is better, and people have judged the same pairs. The
two agree on 82 % of the items. Is this a good judge? The share alone cannot say: where people
nearly always prefer A, a judge that says "A" without reading agrees nearly always.

All labels here are simulated, 1,000 items of each kind.
"""

# %%
# .. req_E14
#
# Cohen's kappa takes the chance level out. It is (agreement - chance) / (1 - chance), where
# chance is the agreement that both would have if each kept their own rates of A and B and nothing
# else: 0 at that level, 1 where both always agree.

from pathlib import Path

import numpy as np

from sklearn_pairboot.agreement import judge_agreement

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "kappa.npz")
found = {
    "judge, balanced items": judge_agreement(arrays["judge"], arrays["human"], random_state=0),
    "always A, easy items": judge_agreement(arrays["lazy"], arrays["human2"], random_state=0),
}
for name, case in found.items():
    print(f"{name}: agreement {case.agreement.value:.3f}, chance {case.chance:.3f}, ", end="")
    print(f"kappa {case.kappa.value:.3f}")

# %%
# The judge that always says A has the higher agreement, and a kappa of 0: all of its agreement is
# what its rates alone would give. In words:

print(found["judge, balanced items"].summary())

# %%
# Both with their intervals, over resampled items. The tick is the chance level. For the judge that
# always says A, kappa is 0 in every resample. An interval without width is a property of these
# labels; here it follows from the definition, since a constant judge has kappa 0 whatever people
# say.

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
places = np.arange(len(found))
for shift, name, style in ((-0.12, "agreement", "o"), (0.12, "kappa", "s")):
    estimates = [getattr(case, name) for case in found.values()]
    values = np.array([estimate.value for estimate in estimates])
    ends = np.array([[estimate.ci_low, estimate.ci_high] for estimate in estimates]).T
    ax.errorbar(
        values, places + shift, xerr=np.abs(ends - values), fmt=style, capsize=4, label=name
    )
chance = [case.chance for case in found.values()]
ax.plot(chance, places - 0.12, "|", color="0.3", markersize=15, label="chance level of agreement")
ax.set_yticks(places, list(found))
ax.set(xlabel="share of items, or kappa", xlim=(-0.05, 1.05), ylim=(1.5, -0.75))
ax.legend(ncols=3, loc="upper center", fontsize="small")
plt.show()

# %%
# The same agreement can go with very different kappas. Three tables of 100 items, each with the
# counts of (both A, only the human A, only the judge A, both B). With as many A as B, 80 % is
# respectable. With 85 % A on both sides, 82 % is little more than the rates give.

tables = {
    "balanced": (40, 10, 10, 40),
    "85 % A on both sides": (76, 9, 9, 6),
    "worse than chance": (10, 40, 40, 10),
}
for name, counts in tables.items():
    human = np.repeat(["A", "A", "B", "B"], counts)
    judge = np.repeat(["A", "B", "A", "B"], counts)
    case = judge_agreement(judge, human, random_state=0)
    print(f"{name}: agreement {case.agreement.value:.2f}, kappa {case.kappa.value:.3f}")

# %%
# .. req_E15
#
# The other yardstick is people themselves. Two annotators who are each right on 80 % of
# two-way items, independently of one another, agree when both are right or both are wrong:
# 0.8 x 0.8 + 0.2 x 0.2 = 0.68. A judge that reaches 68 % with one of them agrees as well as the
# other annotator does.
#
# .. req_E13
#
# This is no ceiling, though. A model that knows the truth agrees with either of them on
# 80 %. The ceiling is how often labels are right, not how often annotators agree. A simulation,
# with the second annotator handed over so that both differences come with an interval:

rng = np.random.default_rng(0)
truth = rng.integers(0, 2, 1000)
first, second = (np.where(rng.random(1000) < 0.8, truth, 1 - truth) for _ in range(2))
perfect = judge_agreement(truth, first, second_human=second, random_state=0)
print(f"exact agreement of two annotators: {0.8 * 0.8 + 0.2 * 0.2:.2f}")
print(f"simulated: {perfect.human_agreement}")
print(f"a judge without errors: {perfect.agreement}")
print(f"judge - second annotator: {perfect.agreement_difference}")

# %%
# What these data do not show
# ---------------------------
# Whether the judge is right: people are the yardstick here, and people err. One number also hides
# easy and hard kinds of items: compute it for each kind. If items were made from templates, they
# are no independent items; pass ``groups=``.
#
# Where to go on: :ref:`sphx_glr_gallery_plot_judge_bias.py`. Whether a judge favours the answer
# that it reads first, or the longer one, neither agreement nor kappa can tell.
