"""
Recipes for users of pandas
===========================

Scores come as dataframes, and results are wanted as dataframes: to filter, to group, to put into a
report. Three things go wrong on the way. Tables that belong to each other are joined by position;
subgroups are compared one by one until one looks good; and a table of numbers is passed on without
what they are about.
"""

# %%
# Join by id, not by position
# ---------------------------
# Two tables of answers, as two programs left them: other orders, and an index that means nothing.
# The scores are simulated: 1 for right, 0 for wrong, 600 questions in two languages.

import numpy as np
import pandas as pd

rng = np.random.default_rng(5)
items = pd.DataFrame(
    {
        "item": [f"q{k:03d}" for k in range(600)],
        "language": rng.choice(["English", "Spanish"], 600, p=[0.7, 0.3]),
        "length": rng.integers(20, 400, 600),
    }
)
hard = rng.normal(0, 1, 600)
better = np.where(items["language"] == "English", 0.5, 0.0)
old = items[["item"]].assign(right=(rng.normal(0.3 - hard) > 0).astype(int))
new = (
    items[["item"]]
    .assign(right=(rng.normal(0.3 - hard + better) > 0).astype(int))
    .sample(frac=1, random_state=0)
)

# %%
# req_B02, req_B14: columns of two tables whose indexes differ are refused, not guessed at. Named by
# their ids, Series are joined.

from sklearn_pairboot import compare_scores

try:
    compare_scores({"old": old["right"], "new": new["right"]})
except ValueError as error:
    print(str(error).partition(". ")[0] + ".")

by_item = {"old": old.set_index("item")["right"], "new": new.set_index("item")["right"]}
wide = pd.DataFrame(by_item).reindex(items["item"])
result = compare_scores(wide, metric="share right", random_state=0)
print(result.to_frame()[["model", "difference", "ci_low", "ci_high", "p_value"]].round(4))

# %%
# ``pd.DataFrame`` of two Series has done the join. Look at ``wide.isna().sum()`` if ids may be
# missing: with ``missing="drop"`` a question is dropped for both models or for none, and the result
# says so.
#
# Every table of a result is a dataframe
# --------------------------------------
# ``to_frame`` has the differences, the scores, and the subgroups; ``replicates`` is an array of
# shape (resamples, metrics, models), for questions that no table answers.

print(result.to_frame("scores")[["model", "estimate", "std_error", "ci_low", "ci_high"]].round(4))
draws = pd.DataFrame(result.replicates[:, 0, :], columns=list(result.models))
print(draws.corr().round(2))

# %%
# Subgroups in one call, in place of ``groupby``
# ----------------------------------------------
# req_A32: ``groupby(...).apply(compare)`` would draw anew for each group and would correct nothing.
# ``slices=`` takes columns, compares within each label on the same resamples, and corrects the
# p-values for the number of subgroups. A number has to be cut first, by limits that were chosen
# before looking.

slices = items.set_index("item")[["language"]].assign(
    length=pd.cut(items["length"], [0, 100, 200, 400], labels=["short", "medium", "long"])
    .astype(str)
    .to_numpy()
)
sliced = compare_scores(wide, metric="share right", slices=slices, random_state=0)
table = sliced.to_frame("slices")
columns = ["slice", "label", "n_rows", "difference", "ci_low", "ci_high", "p_adjusted", "verdict"]
print(table[columns].round(3).to_string(index=False))

# %%
# The new model gains in English, and in Spanish the rows do not tell. This does not say that it
# gains more in English: "better" here and "inconclusive" there is no comparison of the two groups.
# The picture has the intervals of all subgroups; those of the small ones are wide.

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(9, 3.6), layout="constrained")
sliced.plot("forest", ax=ax, which="slices")
plt.show()

# %%
# From a dataframe to text
# ------------------------
# With rounding by the standard error, direction and caption, ``to_markdown`` fits a pull request
# and ``to_latex`` a paper. For a table of one's own, format the columns, and keep the interval next
# to the estimate.

short = table.assign(
    result=table.apply(
        lambda row: f"{row.difference:+.2f} [{row.ci_low:+.2f}, {row.ci_high:+.2f}]", axis=1
    )
)
print(short.pivot(index="label", columns="slice", values="result").fillna(""))
print(result.to_markdown().partition("\n\n")[0])

# %%
# Colours in a notebook, where jinja2 is installed: ``table.style.format(precision=3)`` and
# ``.map(lambda word: "font-weight: bold" if word == "better" else "", subset=["verdict"])``.
#
# Many results go into one table with a key of their own, and from there to ``groupby``:

parts = {
    language: compare_scores(wide[(slices["language"] == language).to_numpy()], random_state=0)
    for language in ("English", "Spanish")
}
frames = {language: part.to_frame("scores") for language, part in parts.items()}
together = pd.concat(frames, names=["language"]).reset_index("language")
print(together.groupby(["language", "model"])["estimate"].first().unstack().round(3))

# %%
# The same with polars, in two lines. Dataframes of polars have no index: rows are paired by
# position, so join first.

try:
    import polars as pl
except ImportError:
    print("polars is not installed")
else:
    from_polars = compare_scores(pl.DataFrame(wide.to_dict("list")), random_state=0)
    print(from_polars.to_frame(backend="polars").select("model", "difference", "verdict"))

# %%
# What these data do not show
# ---------------------------
# Whether the gain differs between languages: nothing above compares the subgroups with one another.
# And questions from one text belong together; then ``groups=`` takes the column of texts.
#
# Where to go on: the guide on many models for the correction, and
# :class:`~sklearn_pairboot.ComparisonResult` for everything that a result can be turned into.
