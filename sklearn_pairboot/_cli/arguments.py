"""The options of the command line."""

from __future__ import annotations

import argparse
import re
from typing import Any, NoReturn

import sklearn_pairboot
from sklearn_pairboot._cli import manual, values
from sklearn_pairboot._cli.gate import REQUIREMENTS
from sklearn_pairboot._cli.manual import PROGRAM
from sklearn_pairboot._cli.output import FORMATS
from sklearn_pairboot._engine.intervals import METHODS
from sklearn_pairboot._engine.multiplicity import CORRECTIONS
from sklearn_pairboot._tables import ALTERNATIVES, FAMILIES, PAIRS


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        text = re.sub(r"^argument (--[\w-]+): must ", r"\1 must ", " ".join(message.split()))
        self.exit(2, f"{PROGRAM}: error: {text}. See: {self.prog} --help\n")


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    parser = _Parser(
        prog=PROGRAM,
        description=manual.OVERVIEW,
        epilog=f"Try: {PROGRAM} compare --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"{PROGRAM} {sklearn_pairboot.__version__}"
    )
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True
    )
    compare = _add_command(
        commands,
        "compare",
        "compare models on the same test rows",
        (manual.SYNOPSIS, manual.COMPARE, manual.EXAMPLES),
    )
    _add_input(compare, stored=False)
    _add_comparison(compare)
    _add_pairs(compare)
    _add_output(compare)
    report = _add_command(
        commands,
        "report",
        "write the report of a comparison in another form",
        (manual.REPORT_SYNOPSIS, manual.REPORT, manual.REPORT_EXAMPLES),
    )
    _add_input(report, stored=True)
    _add_comparison(report)
    _add_pairs(report)
    _add_output(report)
    gate = _add_command(
        commands,
        "gate",
        "pass or fail: is the new model better, or not worse",
        (manual.GATE_SYNOPSIS, manual.GATE, manual.GATE_EXAMPLES),
    )
    _add_input(gate, stored=True)
    _add_gate(gate)
    _add_comparison(gate)
    _add_output(gate)
    gate.set_defaults(pairs=None)
    return parser


def _add_command(
    commands: Any, name: str, summary: str, texts: tuple[str, str, str]
) -> argparse.ArgumentParser:
    usage, description, epilog = texts
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        usage=usage,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return command


def _add_gate(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("gate")
    group.add_argument(
        "--require",
        choices=REQUIREMENTS,
        required=True,
        help="what every judged model must be shown to be, against the baseline",
    )
    group.add_argument(
        "--gate-metric",
        metavar="NAME",
        nargs="+",
        help="metrics that decide; default: all, each of which must pass",
    )
    group.add_argument(
        "--gate-model",
        metavar="NAME",
        nargs="+",
        help="models that are judged; default: all but the baseline, each of which must pass",
    )


def _add_output(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=FORMATS,
        help="default: by the ending of --output, such as .html, .md, .tex or .json; else text",
    )
    gate = command.prog.endswith("gate")
    beside = "beside the lines on" if gate else "in place of"
    group.add_argument(
        "--output",
        metavar="FILE",
        action="append",
        help=f"report to write {beside} standard output; several times for several forms. A file "
        "that exists is replaced as a whole, or left as it is where anything fails",
    )
    group.add_argument(
        "--replicates",
        action="store_true",
        help="keep the resamples in JSON, for plots and another reading of the same result",
    )
    group.add_argument(
        "--progress",
        action="store_true",
        help="show a progress bar on standard error even where that is no terminal; needs tqdm",
    )


def _add_input(command: argparse.ArgumentParser, *, stored: bool) -> None:
    group = command.add_argument_group("input")
    group.add_argument(
        "file",
        metavar="FILE",
        help="CSV (.csv, .tsv, .txt), JSON lines (.jsonl, .ndjson) or Parquet (.parquet, .pq) with "
        "named columns; text also as .gz, .bz2 or .xz; - reads CSV from standard input"
        + ("; or a result (.json) that compare has written" if stored else ""),
    )
    group.add_argument(
        "--models",
        metavar="COL",
        nargs="+",
        help="columns of the models' answers; their names are the models' names. With --long, "
        "which models to compare; default there: all",
    )
    group.add_argument(
        "--names",
        metavar="NAME",
        nargs="+",
        help="names of the models in the order of --models, in place of those of the columns; "
        "where both files hold a column, first that of FILE",
    )
    group.add_argument(
        "--long",
        metavar="ITEM,MODEL,SCORE",
        type=values.three_columns,
        help="columns that hold an item, a model and its score, one score a row",
    )
    group.add_argument(
        "--average-repeats",
        action="store_true",
        help="with --long, take the mean of several rows of one item and model",
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
        "--ids",
        metavar="COL",
        help='column of the items\' keys, read as text: "01" is not "1". Repeated ones are an '
        "error, unless --groups says what is drawn as a whole",
    )
    group.add_argument(
        "--second-file",
        metavar="FILE",
        help="file with further models' columns, joined by --ids; missing, extra and repeated ids "
        "are an error. A column of --models that both files hold is two models, FILE:COL each "
        "unless --names says otherwise; labels, groups and weights come from the first file",
    )
    group.add_argument(
        "--sample-weight", metavar="COL", help="column of the rows' importance weights"
    )
    group.add_argument(
        "--separator",
        metavar="CHAR",
        type=values.separator,
        help="between CSV cells; default: comma, in .tsv a tab",
    )


def _add_comparison(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("comparison")
    group.add_argument(
        "--baseline", metavar="NAME", help="model the others are compared with; default: the first"
    )
    group.add_argument(
        "--resamples",
        metavar="N",
        type=values.resamples,
        help='number of resamples; "exact" for all, of few rows or clusters or of means; or "auto" '
        "to draw until interval ends and verdicts are known; default: 9999",
    )
    group.add_argument("--confidence-level", metavar="L", type=values.level, help="default: 0.95")
    group.add_argument("--method", choices=METHODS, help="default: percentile")
    group.add_argument(
        "--alternative",
        choices=ALTERNATIVES,
        help="direction in which a difference counts; default: two-sided",
    )
    group.add_argument(
        "--margin",
        metavar="M",
        nargs="+",
        type=values.margin_of_metric,
        help="smallest difference that would matter, in units of the metric: the report says "
        "whether models are equivalent, and not worse. METRIC=M for each of several metrics",
    )
    group.add_argument(
        "--margin-relative",
        metavar="S",
        type=values.margin,
        help="the same as a share of the baseline's score, such as 0.05",
    )
    group.add_argument(
        "--correction",
        choices=["none" if name is None else name for name in CORRECTIONS],
        help="adjustment of p-values where one metric has several comparisons; default: holm",
    )
    group.add_argument(
        "--family",
        choices=FAMILIES,
        help="what is corrected for one another: comparisons of one metric, or of all; default: "
        "metric",
    )
    group.add_argument(
        "--permutation",
        action="store_true",
        help="add the p-value of a permutation test, which swaps models within rows or groups",
    )
    group.add_argument(
        "--seed",
        metavar="N",
        type=values.seed,
        help="seed of the draws: the same seed gives the same report; default: 0",
    )
    group.add_argument(
        "--jobs", metavar="N", type=values.jobs, help="parallel jobs; results do not depend on it"
    )


def _add_pairs(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("models")
    group.add_argument(
        "--pairs",
        choices=PAIRS,
        help="compare models with the baseline, or all with one another; default: baseline",
    )
