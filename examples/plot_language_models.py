"""
Two language models on prompts from templates
=============================================

An evaluation leaves one file a model: a line for each prompt, with the score of the answer. The new
model is ahead by a few points. The prompts were written from twenty templates, twenty from each. Is
this a sample of 400, or of 20?
"""

# %%
# The files
# ---------
# Usual mistakes come first: to zip the two files line by line, to drop the failures of each file on
# its own, and to count every generation as another prompt. The example writes two files of
# simulated scores, with the lines of the second in another order, as parallel runs leave them.
# Three answers were generated for every prompt, and ``score`` is the share that was right.

import json
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

rng = np.random.default_rng(4)
template = np.repeat(np.arange(20), 20)
ease = rng.normal(0, 1, 20)[template] + rng.normal(0, 0.7, 400)
gain = rng.normal(0.3, 1.0, 20)[template]  # what the new model gains depends on the template


def write_lines(path, skill):
    """Write one line for each prompt, in random order: id, template, and three scores."""
    chance = 1 / (1 + np.exp(-skill))
    with path.open("w", encoding="utf-8") as lines:
        for item in rng.permutation(400):
            generations = (rng.random(3) < chance[item]).astype(int)
            record = {
                "id": f"prompt-{item:03d}",
                "template": f"t{template[item]:02d}",
                "generations": generations.tolist(),
                "score": generations.mean(),
            }
            lines.write(json.dumps(record) + "\n")


folder = TemporaryDirectory()
files = {name: Path(folder.name, f"{name}.jsonl") for name in ("old", "new")}
write_lines(files["old"], ease)
write_lines(files["new"], ease + gain)
print(files["old"].read_text(encoding="utf-8").partition("\n")[0])

# %%
# Joined by id
# ------------
# req_B14: with the ids of every model's own rows, :func:`~sklearn_pairboot.compare_scores` joins
# them, and refuses ids that are missing, extra or double. Positions in the files do not matter. A
# dictionary from id to score would do as well, but it hides ids that occur twice.
#
# req_B16: three generations of a prompt are no three prompts. They say how much an answer varies;
# the prompt is scored by their mean.

from sklearn_pairboot import compare_scores


def read_lines(path):
    """Read a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


answers = {name: read_lines(path) for name, path in files.items()}
scores = {name: [record["score"] for record in records] for name, records in answers.items()}
ids = {name: [record["id"] for record in records] for name, records in answers.items()}
template_of = {record["id"]: record["template"] for record in answers["old"]}

by_prompt = compare_scores(scores, ids, metric="share right", random_state=0)
by_template = compare_scores(scores, ids, metric="share right", groups=template_of, random_state=0)
for result in (by_prompt, by_template):
    row = result.differences[0]
    print(
        f"{result.n_units} {result.unit}: {row.difference:+.4f} "
        f"[{row.ci_low:+.4f}, {row.ci_high:+.4f}], p = {row.p_value:.4f}, {row.verdict}"
    )

# %%
# One estimate, two answers. Drawn prompt by prompt, the lead counts as shown. But new prompts will
# come from new templates, and what the new model gains differs from template to template: prompts
# of one template are good or bad together. Draw what was drawn: templates.
#
# req_E23: by how much the rows repeat each other.

from sklearn_pairboot.planning import intraclass_correlation

by_id = itemgetter("id")
ordered = {name: sorted(records, key=by_id) for name, records in answers.items()}
templates = [record["template"] for record in ordered["old"]]
pairs = zip(ordered["old"], ordered["new"], strict=True)
alike = intraclass_correlation([new["score"] - old["score"] for old, new in pairs], templates)
print(
    f"intraclass correlation {alike.estimate:.2f}, design effect {alike.design_effect:.1f}: "
    f"{alike.n_rows} prompts are worth {alike.effective_sample_size:.0f} independent ones"
)

# %%
# Were the three generations counted as 1,200 rows, the interval by row would shrink again, for no
# new prompt. Within whole templates it does not matter: all rows of a template stay together.

rows = {
    name: np.concatenate([record["generations"] for record in records])
    for name, records in ordered.items()
}
row_templates = np.repeat(templates, 3)
for label, groups in (("1,200 rows", None), ("the same in 20 templates", row_templates)):
    row = compare_scores(rows, groups=groups, random_state=0).differences[0]
    print(f"{label}: SE {row.std_error:.4f} [{row.ci_low:+.4f}, {row.ci_high:+.4f}]")

# %%
# The resamples behind the two intervals:

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for ax, result in zip(axes, (by_prompt, by_template), strict=True):
    result.plot("difference", ax=ax)
    drawn = "prompts" if result.unit == "rows" else "templates"
    ax.set_title(f"{drawn} drawn", loc="left", fontweight="bold")
    ax.set_xlim(-0.15, 0.23)
plt.show()

# %%
# The estimate is the same. By template, the resamples spread more than twice as far, and many of
# them are below 0.
#
# A gate for releases
# -------------------
# The same question as a command, for a pipeline that has to stop a release: is the new model at
# least not worse than the old one by 5 points? The exit status answers, 0 for yes and 1 for "not
# shown". Here the command is called from Python.

from sklearn_pairboot.cli import main

command = ["gate", str(files["old"]), "--second-file", str(files["new"]), "--ids", "id"]
command += ["--models", "score", "--groups", "template"]
for requirement in (["not-worse", "--margin", "0.05"], ["better"]):
    status = main([*command, "--require", *requirement])
    print("exit status", status)
folder.cleanup()

# %%
# What these data do not show
# ---------------------------
# The interval by template is one for new templates of the same kind, written by the same people.
# With 20 templates it is itself a little too narrow: see the guide on few units. Whether the scores
# are right is another question: a judge that prefers long answers prefers them in every resample.
# And both models are held fixed, as they answered on that day.
#
# Where to go on: the guide on the unit of sampling, and the command line's ``gate --help``.
