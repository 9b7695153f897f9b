"""
Twenty benchmarks, and one that is significant
==============================================

Two models are compared on 20 benchmarks of 200 questions each. On one of them the new model is
ahead with p < 0.05. Is it better, at least there?

Here nobody has to guess: the answers are simulated, and both models have every question right with
probability 0.6, in 2,000 repetitions of the whole exercise. Every "significant" benchmark is a
false one. What people usually do is to test each benchmark at 5 %, and to write about the best.
"""

# %%
# With 200 independent questions each, a lead of 20 questions is 1.96 standard errors or more. How
# often that happens by chance needs no simulation: both counts are binomial.

from pathlib import Path

import numpy as np
from scipy import stats

DATA = next(p for p in (Path("data"), Path("examples/data")) if p.exists())
arrays = np.load(DATA / "experiments" / "multiple.npz")
n_questions, rate, n_benchmarks = int(arrays["n_questions"]), 0.6, 20

# req_E26
std_error = np.sqrt(2 * rate * (1 - rate) / n_questions)
counts = np.arange(n_questions + 1)
chance = stats.binom.pmf(counts, n_questions, rate)
is_significant = np.abs(counts[:, None] - counts) / n_questions > 1.96 * std_error
alone = float((np.outer(chance, chance) * is_significant).sum())
print(f"on a single benchmark: {alone:.4f}")
print(f"expected number among {n_benchmarks}: {n_benchmarks * alone:.3f}")
print(f"at least one: {1 - (1 - alone) ** n_benchmarks:.3f}")

# %%
# The simulation agrees. And leads as such, significant or not, are about ten of twenty (a little
# less, since some benchmarks end in a tie). "Ahead on 12 of 20 benchmarks" is no news.

a, b = arrays["a_counts"], arrays["b_counts"]
p_values = 2 * stats.norm.sf(np.abs(b - a) / n_questions / std_error)
n_found = (p_values < 0.05).sum(axis=1)
leads = (b > a).sum(axis=1)
print(f"simulated: {n_found.mean():.2f} significant, at least one in {(n_found > 0).mean():.1%}")
coin = stats.binom(n_benchmarks, 0.5)
print(f"leads expected without ties: {coin.mean():.0f} +- {coin.std():.1f}")
print(f"simulated: new model ahead on {leads.mean():.1f} +- {leads.std():.1f} of 20")

# %%
# What to do depends on the question. There are three good answers, each fixed before looking.
#
# **Which benchmarks?** Adjust the p-values for how many there are. Both Bonferroni's adjustment (20
# times each p-value) and Holm's sharper one find a difference where there is none in about 5 % of
# the repetitions, not in 61 %.

print(f"after Holm, at least one in {(n_benchmarks * p_values.min(axis=1) < 0.05).mean():.1%}")

# %%
# In the library the benchmarks are slices of one comparison. Take a repetition in which four of
# them looked significant. The file has counts; as both models answer at random, any order of right
# and wrong answers within a benchmark will do.

from sklearn_pairboot import compare_scores

repetition = int(np.argmax(n_found == 4))
rng = np.random.default_rng(0)


def answers(counts_of_model):
    """Lay out the answers of all benchmarks, right ones at random places within each."""
    in_order = np.arange(n_questions) < counts_of_model[:, None]
    return rng.permuted(in_order, axis=1).ravel().astype(int)


right = {"old": answers(a[repetition]), "new": answers(b[repetition])}
benchmark = np.repeat([f"set {k:02d}" for k in range(1, n_benchmarks + 1)], n_questions)
result = compare_scores(
    right,
    test_sets=benchmark,
    slices={"benchmark": benchmark},
    correction="holm",
    random_state=0,
)


def n_verdicts(result):
    """Count the benchmarks with a verdict."""
    return sum(row.verdict != "inconclusive" for row in result.slices)


print(f"p < 0.05 on {sum(row.p_value < 0.05 for row in result.slices)} benchmarks,")
print(f"after Holm on {n_verdicts(result)}")

# %%
# Holm adjusts p-values and leaves intervals alone. ``max-t`` reads the same resamples in another
# way, and widens the intervals so that they hold for all benchmarks at once. Where benchmarks rise
# and fall together it gains over Holm; here they are independent, and there is little to gain.

together = result.replace(correction="max-t")
print(f"after max-t on {n_verdicts(together)}")
for name, read in (("each by itself", result), ("for all at once", together)):
    width = np.mean([row.ci_high - row.ci_low for row in read.slices])
    print(f"mean width of the intervals, {name}: {width:.3f}")

# %%
# The picture shows the intervals for all at once. Every one of them contains 0.

import matplotlib.pyplot as plt

from sklearn_pairboot.plotting import ForestDisplay

ForestDisplay.from_result(together, which="slices").plot()
plt.show()

# %%
# **Is it better on the whole?** Ask for the average over benchmarks. This is one comparison, with
# 4,000 questions behind it, and its interval is more than four times narrower than that of a single
# benchmark. ``test_sets=`` resamples each benchmark on its own questions. The benchmarks themselves
# are held fixed: nobody drew them at random.

print(result.summary().partition("\n\nDifferences")[0])
(average,) = result.differences
print(f"average: {average.difference:+.4f} [{average.ci_low:.4f}, {average.ci_high:.4f}]")

# %%
# **One main benchmark**, named in advance, needs no adjustment. The others are then description.
#
# What this does not show
# -----------------------
# That the two models are equal: "inconclusive" on 20 benchmarks is no proof of that, and only a
# margin fixed beforehand could show equivalence. Adjustment covers the comparisons it is told of.
# It does not know about the benchmarks, prompts and seeds that were tried and left out.
#
# Where to go on: :ref:`sphx_glr_gallery_plot_paired.py` for one benchmark, where both models have
# answered the same questions and pairing helps.
