"""The manual pages that ``--help`` prints."""

from __future__ import annotations

PROGRAM = "sklearn-pairboot"

SYNOPSIS = f"""\
{PROGRAM} compare FILE --models COL [COL ...]
           --label COL --metric NAME [NAME ...] [options]
       {PROGRAM} compare FILE --models COL [COL ...]
           [--lower-is-better] [options]
       {PROGRAM} compare FILE --long ITEM,MODEL,SCORE
           [--lower-is-better] [options]"""

OVERVIEW = """\
Ask whether a difference between models would hold on other test rows of the
same kind.

Every model's answers to the same rows stand in a table, one column a model. The
command draws these rows (or the clusters they come in) again and again with
replacement, scores all models on each draw, and reports estimates, intervals of
the differences, p-values, and a sentence for each comparison."""

COMPARE = """\
Compare models on the same test rows by a paired bootstrap.

FILE holds one test row a line and one column a model. With --label and --metric
the columns are predictions, scored by scikit-learn's scorers: predicted labels
for accuracy or f1, probabilities of the positive class for roc_auc or
neg_log_loss, values for r2 or neg_mean_absolute_error. One run takes metrics
that need the same kind of column. Without --label the columns are scores of
single items (1 or 0 for correct or wrong, a rating, a latency), and their means
are compared.

If several rows come from one patient, document or user, name that column with
--groups. Whole groups are then drawn. Without it rows count as independent, and
the intervals are too narrow.

With --long a row holds one item, one model and its score, as in logs of
evaluations; several rows of one item and model need --average-repeats."""

EXAMPLES = f"""\
examples:
  Two columns of probabilities, rows in clusters:
    {PROGRAM} compare visits.csv --label relapse --models old new \\
        --metric roc_auc neg_log_loss --groups patient

  Predicted labels in words:
    {PROGRAM} compare test.csv --label diagnosis --models a b \\
        --metric f1 --pos-label sick

  Items marked 1 (correct) and 0 (wrong), the second model in a file of its own:
    {PROGRAM} compare old.csv --second-file new.csv --ids item \\
        --models correct

  A log of evaluations, one score a line:
    {PROGRAM} compare log.jsonl --long prompt,model,correct

  Latencies, where lower is better, as JSON:
    {PROGRAM} compare runs.parquet --models v1 v2 --lower-is-better \\
        --format json

exit status:
  0  the comparison was made, whatever it found
  2  bad input or usage; one line on standard error says what is wrong, and
     nothing is written

Models are held fixed: the intervals speak of other test rows, not of training
again."""

REPORT_SYNOPSIS = f"""\
{PROGRAM} report RESULT.json [--format NAME] [--output FILE]
       {PROGRAM} report FILE --models COL [COL ...] [options]"""

REPORT = """\
Write the report of a comparison as text, markdown, HTML, LaTeX or JSON.

FILE is either a result that compare --output RESULT.json has written, or a
table, which is compared first by the options of compare."""

REPORT_EXAMPLES = f"""\
examples:
  Compare once, and write the report in three forms:
    {PROGRAM} compare visits.csv --label relapse --models old new \\
        --metric roc_auc --groups patient --replicates --output result.json
    {PROGRAM} report result.json --output result.html --output result.md
    {PROGRAM} report result.json --format latex

exit status:
  0  the report was written
  2  bad input or usage; one line on standard error says what is wrong, and
     nothing is written"""

GATE_SYNOPSIS = f"""\
{PROGRAM} gate FILE --models COL COL [COL ...]
           --require better [options]
       {PROGRAM} gate FILE --models COL COL [COL ...]
           --require not-worse --margin M [options]
       {PROGRAM} gate RESULT.json --require REQUIREMENT"""

GATE = """\
Open or close a release gate: exit with 0 where every model but the baseline is
shown to be what is required, and with 1 where one is not.

  better      the verdict is "better" than the baseline. With a margin, a
              difference that is shown to be smaller than it is "equivalent",
              and does not pass.
  not-worse   worse than the baseline by less than the margin, if at all
              (non-inferiority)
  equivalent  less than the margin apart from the baseline, in both directions

What the test rows cannot show does not pass: few rows close the gate, and so do
answers that are the same in all rows, from which no resample learns how other
rows might differ. Where a change is meant to alter nothing, compare the files
first: equal ones need no gate. Choose the margin before the data are seen. One
line says for each comparison what was found and what it rests on.

All metrics and all models must pass, or those that --gate-metric and
--gate-model name. A gate that asks for all metrics at once needs no correction
for their number (intersection-union test). P-values of several models on one
metric are adjusted by --correction, since each line is a claim of its own; for
the one decision that all of them pass, --correction none would do. To name a
model with --gate-model does not take the others out of that adjustment."""

GATE_EXAMPLES = f"""\
examples:
  The new model must not lose more than 0.01 of accuracy:
    {PROGRAM} gate test.csv --label diagnosis --models old new \\
        --metric accuracy --require not-worse --margin 0.01

  Two metrics, each with its margin, and a report for the pull request:
    {PROGRAM} gate visits.csv --label relapse --models old new \\
        --metric roc_auc neg_log_loss --groups patient --require not-worse \\
        --margin roc_auc=0.02 log_loss=0.05 --output gate.md --output gate.json

  Better on the deciding metric, whatever the others say:
    {PROGRAM} gate visits.csv --label relapse --models old new \\
        --metric roc_auc neg_log_loss --require better --gate-metric roc_auc

exit status:
  0  pass: all that is required is shown
  1  fail: something that is required is not shown
  2  bad input or usage; one line on standard error says what is wrong, and
     nothing is written"""
