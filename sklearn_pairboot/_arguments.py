"""The options of the command line, and the manual page that ``--help`` prints."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

import sklearn_pairboot
from sklearn_pairboot._engine.intervals import METHODS
from sklearn_pairboot._engine.multiplicity import CORRECTIONS
from sklearn_pairboot._tables import ALTERNATIVES, FAMILIES, PAIRS

PROGRAM = "sklearn-pairboot"

_SYNOPSIS = f"""\
{PROGRAM} compare FILE --models COL [COL ...]
           --label COL --metric NAME [NAME ...] [options]
       {PROGRAM} compare FILE --models COL [COL ...]
           [--lower-is-better] [options]"""

_OVERVIEW = """\
Ask whether a difference between models would hold on other test rows of the
same kind.

Every model's answers to the same rows stand in a table, one column a model. The
command draws these rows (or the clusters they come in) again and again with
replacement, scores all models on each draw, and reports estimates, intervals of
the differences, p-values, and a sentence for each comparison."""

_COMPARE = """\
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
the intervals are too narrow."""

_EXAMPLES = f"""\
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

  Latencies, where lower is better, as JSON:
    {PROGRAM} compare runs.parquet --models v1 v2 --lower-is-better \\
        --format json

exit status:
  0  the comparison was made, whatever it found
  2  bad input or usage; one line on standard error says what is wrong

Models are held fixed: the intervals speak of other test rows, not of training
again."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        text = re.sub(r"^argument (--[\w-]+): must ", r"\1 must ", " ".join(message.split()))
        self.exit(2, f"{PROGRAM}: error: {text}. See: {self.prog} --help\n")


def _resamples(text: str) -> int | str:
    if text in ("exact", "auto"):
        return text
    return _integer(text, 2, "an integer of at least 2, 'exact' or 'auto'")


def _seed(text: str) -> int:
    return _integer(text, 0, "a non-negative integer")


def _jobs(text: str) -> int:
    jobs = _integer(text, None, rule := "an integer, but not 0 (-1 for all processors)")
    if jobs == 0:
        raise argparse.ArgumentTypeError(f"must be {rule}, got {text!r}")
    return jobs


def _integer(text: str, least: int | None, rule: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or (least is not None and number < least):
        raise argparse.ArgumentTypeError(f"must be {rule}, got {text!r}")
    return number


def _margin(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a positive number, got {text!r}") from error


def _level(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"must be a number between 0 and 1, such as 0.95, got {text!r}"
        ) from error


def _separator(text: str) -> str:
    # What stands in numbers and names would tear cells apart, and pandas treats some marks and
    # all longer texts as patterns.
    plain = len(text) == 1 and text.isascii() and not text.isalnum() and text not in "\\\"'._+-"
    if not plain or not (text == "\t" or text.isprintable()):
        raise argparse.ArgumentTypeError(
            "must be one plain character such as ; or | or a real tab (in a shell $'\\t'), got "
            f"{text!r}"
        )
    return text


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    parser = _Parser(
        prog=PROGRAM,
        description=_OVERVIEW,
        epilog=f"Try: {PROGRAM} compare --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"{PROGRAM} {sklearn_pairboot.__version__}"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = commands.add_parser(
        "compare",
        help="compare models on the same test rows",
        usage=_SYNOPSIS,
        description=_COMPARE,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_input(command)
    _add_resampling(command)
    output = command.add_argument_group("output")
    output.add_argument(
        "--format", choices=("text", "markdown", "json"), default="text", help="default: text"
    )
    output.add_argument("--output", metavar="FILE", help="file to write; default: standard output")
    return parser


def _add_input(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("input")
    group.add_argument(
        "file",
        metavar="FILE",
        help="CSV (.csv, .tsv, .txt) or Parquet (.parquet, .pq) with a header; - reads CSV from "
        "standard input",
    )
    group.add_argument(
        "--models",
        metavar="COL",
        nargs="+",
        required=True,
        help="columns of the models' answers; their names are the models' names",
    )
    group.add_argument(
        "--label",
        metavar="COL",
        help="column of the truths; without it the models' columns are scores of single items",
    )
    group.add_argument(
        "--metric",
        metavar="NAME",
        nargs="+",
        action="extend",
        help="scorers as scikit-learn names them, such as accuracy or neg_log_loss; the report "
        "shows a loss as a loss",
    )
    group.add_argument(
        "--pos-label", metavar="VALUE", help="positive class; needed unless labels are 0/1 or -1/1"
    )
    group.add_argument(
        "--lower-is-better",
        action="store_true",
        help="direction of item scores: they are losses, costs or latencies",
    )
    group.add_argument(
        "--groups", metavar="COL", help="column of the clusters, drawn as a whole: patient, user"
    )
    group.add_argument(
        "--ids", metavar="COL", help='column of the items\' keys, read as text: "01" is not "1"'
    )
    group.add_argument(
        "--second-file",
        metavar="FILE",
        help="file with further models' columns, joined by --ids; missing, extra and repeated ids "
        "are an error. A column of --models that both files hold is two models, FILE:COL each; "
        "labels, groups and weights come from the first file",
    )
    group.add_argument(
        "--sample-weight", metavar="COL", help="column of the rows' importance weights"
    )
    group.add_argument(
        "--separator",
        metavar="CHAR",
        type=_separator,
        help="between CSV cells; default: comma, in .tsv a tab",
    )


def _add_resampling(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("comparison")
    group.add_argument(
        "--baseline", metavar="NAME", help="model the others are compared with; default: the first"
    )
    group.add_argument(
        "--resamples",
        metavar="N",
        type=_resamples,
        default=9999,
        help='number of resamples; "exact" for all, of few rows or clusters or of means; or "auto" '
        "to draw until interval ends and verdicts are known; default: 9999",
    )
    group.add_argument(
        "--confidence-level", metavar="L", type=_level, default=0.95, help="default: 0.95"
    )
    group.add_argument(
        "--method", choices=METHODS, default="percentile", help="default: percentile"
    )
    group.add_argument(
        "--alternative",
        choices=ALTERNATIVES,
        default="two-sided",
        help="direction in which a difference counts; default: two-sided",
    )
    group.add_argument(
        "--margin",
        metavar="M",
        type=_margin,
        help="smallest difference that would matter, in units of the one metric: the report says "
        "whether models are equivalent, and not worse",
    )
    group.add_argument(
        "--margin-relative",
        metavar="S",
        type=_margin,
        help="the same as a share of the baseline's score, such as 0.05",
    )
    group.add_argument(
        "--correction",
        choices=["none" if name is None else name for name in CORRECTIONS],
        default="holm",
        help="adjustment of p-values where one metric has several comparisons; default: holm",
    )
    group.add_argument(
        "--family",
        choices=FAMILIES,
        default="metric",
        help="what is corrected for one another: comparisons of one metric, or of all; default: "
        "metric",
    )
    group.add_argument(
        "--pairs",
        choices=PAIRS,
        default="baseline",
        help="compare models with the baseline, or all with one another; default: baseline",
    )
    group.add_argument(
        "--permutation",
        action="store_true",
        help="add the p-value of a permutation test, which swaps models within rows or groups",
    )
    group.add_argument(
        "--seed",
        metavar="N",
        type=_seed,
        default=0,
        help="seed of the draws: the same seed gives the same report; default: 0",
    )
    group.add_argument(
        "--jobs", metavar="N", type=_jobs, help="parallel jobs; results do not depend on it"
    )
