"""The command line: what goes in, what comes out, and the one line that bad input gets."""

import gzip
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import sklearn_pairboot
from sklearn_pairboot import ComparisonResult, cli, compare_predictions, compare_scores
from sklearn_pairboot._cli import arguments as arguments_of_cli
from sklearn_pairboot._cli import manual, usage

N = 60
FAST = ("--resamples", "199")


@pytest.fixture
def run(capsys):
    """Run the command line; give exit status, standard output and standard error."""

    def run(*arguments):
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def compare(run):
    """Run a comparison that succeeds; give its result, read from JSON."""

    def compare(*arguments):
        status, out, err = run("compare", *arguments, *FAST, "--format", "json")
        assert (status, err) == (0, "")
        return ComparisonResult.from_json(out)

    return compare


@pytest.fixture
def refused(run):
    """Run a comparison that fails; give the one line that it prints, without its beginning."""

    def refused(*arguments):
        status, out, err = run("compare", *arguments)
        assert (status, out) == (2, "")
        line, end, rest = err.partition("\n")
        assert (end, rest) == ("\n", "")
        assert line.startswith("sklearn-pairboot: error: ")
        return line.removeprefix("sklearn-pairboot: error: ")

    return refused


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, N)
    return {
        "item": [f"{k:02d}" for k in range(N)],
        "user": [f"{k // 6}" for k in range(N)],
        "y": truth.tolist(),
        "a": rng.random(N).round(3).tolist(),
        "b": (0.5 * rng.random(N) + 0.3 * truth).round(3).tolist(),
        "weight": rng.integers(1, 4, N).tolist(),
    }


@pytest.fixture
def file(tmp_path, data):
    pytest.importorskip("pandas")
    return write(tmp_path / "test.csv", data)


def write(path, columns, separator=","):
    rows = zip(*columns.values(), strict=True)
    lines = [separator.join(map(str, row)) for row in [columns, *rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_text(path, text):
    pytest.importorskip("pandas")
    path.write_text(text, encoding="utf-8")
    return path


def tables(result):
    """Both tables, as text so that NaN equals NaN."""
    return [repr(row) for row in (*result.scores, *result.differences)]


# Help and usage


def test_help_reads_like_a_manual_page(run):
    status, text, err = run("compare", "--help")
    assert (status, err) == (0, "")
    places = [
        text.index(heading)
        for heading in (
            "usage: sklearn-pairboot compare FILE",
            "Compare models on the same test rows",
            "\ninput:\n",
            "\ncomparison:\n",
            "\noutput:\n",
            "\nexamples:\n",
            "\nexit status:\n",
        )
    ]
    assert places == sorted(places)
    for option in vars(
        arguments_of_cli.make_parser().parse_args(["compare", "f", "--models", "a"])
    ):
        assert option in ("file", "command") or f"--{option.replace('_', '-')}" in text


def test_help_of_the_program_names_its_command(run):
    status, text, _ = run("--help")
    assert status == 0
    assert re.search(r"^ +compare +compare models on the same test rows$", text, re.MULTILINE)


def test_commands_in_the_help_are_accepted():
    examples = re.sub(r"\\\n +", "", manual.EXAMPLES)
    commands = re.findall(r"^ +sklearn-pairboot (compare .*)$", examples, re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        usage.check_usage(arguments_of_cli.make_parser().parse_args(command.split()))


def test_version(run):
    assert run("--version") == (0, f"sklearn-pairboot {sklearn_pairboot.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND. See: sklearn-pairboot --help"),
        (
            ["compare"],
            "the following arguments are required: FILE. See: sklearn-pairboot compare --help",
        ),
        (
            ["compare", "f.csv", "--models", "a", "--seed", "x"],
            "--seed must be a non-negative integer, got 'x'. See: sklearn-pairboot compare --help",
        ),
        (
            ["compare", "f.csv", "--models", "a", "--resample", "9"],
            "unrecognized arguments: --resample 9. See: sklearn-pairboot --help",
        ),
    ],
)
def test_wrong_usage_gets_one_line(run, arguments, message):
    assert run(*arguments) == (2, "", f"sklearn-pairboot: error: {message}\n")


@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [
        ("--resamples", "x", "an integer of at least 2, 'exact' or 'auto'"),
        ("--resamples", "1", "an integer of at least 2, 'exact' or 'auto'"),
        ("--seed", "-1", "a non-negative integer"),
        ("--seed", "0.5", "a non-negative integer"),
        ("--jobs", "0", "an integer, but not 0 (-1 for all processors)"),
        ("--jobs", "all", "an integer, but not 0 (-1 for all processors)"),
        ("--confidence-level", "95%", "a number between 0 and 1, such as 0.95"),
        *(
            (
                "--separator",
                mark,
                "one plain character such as ; or | or a real tab (in a shell $'\\t')",
            )
            for mark in ("", "\\", "\\t", '"', "'", "\n", "\r", "\0", ";;", "a", "0", "-", "\xa7")
        ),
    ],
)
def test_values_of_options_are_said_to_be_wrong_in_one_way(run, option, value, rule):
    assert run("compare", "f.csv", "--models", "a", option, value) == (
        2,
        "",
        f"sklearn-pairboot: error: {option} must be {rule}, got {value!r}. See: sklearn-pairboot "
        "compare --help\n",
    )


def test_help_fits_on_a_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for command in ([], ["compare"], ["report"], ["gate"]):
        arguments = [*command, "--help"]
        assert max(map(len, run(*arguments)[1].splitlines())) <= 80


@pytest.mark.parametrize(
    "option",
    ["--label", "--groups", "--ids", "--second-file", "--sample-weight", "--baseline", "--output"],
)
def test_empty_values_are_not_passed_over(refused, option):
    assert refused("no-such-file.csv", "--models", "a", "b", option, "") == (
        f"{option} must not be empty, got ''. Leave it out, or say which."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--metric", "accuracy"],
            "--metric needs --label. Without it the columns are scores of single items, whose "
            "means are compared.",
        ),
        (
            ["--pos-label", "1"],
            "--pos-label needs --label. Without it the columns are scores of single items, whose "
            "means are compared.",
        ),
        (["--label", "y"], "--label needs --metric, such as --metric accuracy."),
        (
            ["--label", "y", "--metric", "f1", "--lower-is-better"],
            "--lower-is-better must come without --label: scorers know the direction.",
        ),
        (
            ["--label", "a", "--metric", "f1"],
            "--models must not name the column of --label, got 'a'.",
        ),
        (["--models", "a", "b", "a"], "--models must name each column once, got 'a' twice."),
        (
            ["--second-file", "g.csv"],
            "--second-file needs --ids, a column of both files: rows are joined by their id, never "
            "by their position.",
        ),
        (
            ["--label", "y", "--metric", "log_loss"],
            "--metric must be a scorer of scikit-learn, got 'log_loss'. Did you mean "
            "'neg_log_loss'?",
        ),
        (
            ["--output", "no/such/folder/report.txt"],
            "--output must lie in a folder that exists, got 'no/such/folder/report.txt'.",
        ),
    ],
)
def test_contradictions_are_found_before_any_file_is_read(refused, arguments, message):
    models = [] if "--models" in arguments else ["--models", "a", "b"]
    assert refused("no-such-file.csv", *models, *arguments) == message


# Files


@pytest.mark.parametrize("absent", ["pandas", "pyarrow"])
def test_absent_optional_packages_are_named_with_their_extra(
    refused, monkeypatch, tmp_path, absent
):
    if absent == "pyarrow":
        pytest.importorskip("pandas")
    monkeypatch.setitem(sys.modules, absent, None)
    path = tmp_path / "test.parquet"
    assert refused(path, "--models", "a") == (
        f'Cannot read {path} without {absent}. Install it with: pip install "sklearn-pairboot[cli]"'
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.csv", None, "No such file or directory."),
        ("empty.csv", b"", "it is empty."),
        ("header.csv", b"a,b\n", "it has no rows below its header."),
        ("latin.csv", "a,b\n1,\xe9\n".encode("latin-1"), "it is not UTF-8 text."),
        (
            "ragged.csv",
            b"a,b\n1,2\n3,4,5\n",
            "Error tokenizing data. C error: Expected 2 fields in line 3, saw 3.",
        ),
        (
            "test.xlsx",
            b"",
            "its name must end in .csv, .tsv, .txt, .jsonl, .ndjson, .parquet, .pq, which tells "
            "CSV, JSON lines and Parquet apart; .gz may follow those of text.",
        ),
    ],
)
def test_unreadable_file(refused, tmp_path, name, content, message):
    pytest.importorskip("pandas")
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert refused(path, "--models", "a") == f"Cannot read {path}: {message}"


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_archive_that_is_none(refused, tmp_path, ending):
    pytest.importorskip("pandas")
    path = tmp_path / f"test.csv{ending}"
    path.write_bytes(b"a,b\n1,2\n")
    assert refused(path, "--models", "a").startswith(f"Cannot read {path}: ")
    path.write_bytes(gzip.compress(b"a,b\n1,2\n" * 99)[:-20])
    assert refused(path, "--models", "a").startswith(f"Cannot read {path}: ")


def test_error_of_the_parser_counts_rows_as_it_does(refused, tmp_path):
    path = write_text(tmp_path / "test.csv", 'a,b\n1,2\n"3,4\n')
    assert refused(path, "--models", "a") == (
        f"Cannot read {path}: Error tokenizing data. C error: EOF inside string starting at row 2."
    )
    path = write_text(tmp_path / "rows.csv", "row(s) 1,`scoring`\n1,2\n")
    assert refused(path, "--models", "a") == (
        f"--models must name a column of {path}, got 'a'. Its columns are: row(s) 1, `scoring`."
    )


@pytest.mark.parametrize(
    ("mark", "shown"),
    [(";", '";"'), ("\t", "a tab"), ("|", '"|"')],
    ids=["semicolon", "tab", "bar"],
)
def test_other_separators_are_hinted_at(refused, tmp_path, mark, shown):
    path = write_text(tmp_path / "test.csv", f"a{mark}b\n1{mark}2\n")
    hint = f" Its cells seem to be separated by {shown}: see --separator."
    assert refused(path, "--models", "a").endswith(f".{hint}")
    path = write_text(tmp_path / "commas.csv", f"a{mark}b\n1,5{mark}2\n")
    line = refused(path, "--models", "a")
    assert line.startswith(f"Cannot read {path}: Error tokenizing data.")
    assert line.endswith(hint)
    path = write_text(tmp_path / "test.tsv", "a,b\n1,2\n")
    assert refused(path, "--models", "a").endswith('separated by ",": see --separator.')


@pytest.mark.parametrize(
    ("text", "row", "n_rows"),
    [("a\n1\n\n0\n", 2, 3), ("a\n1\n0\n\n", 3, 3), ("\n\na\n1\n  \n0\n1\n", 2, 4)],
)
def test_empty_line_of_a_single_column_is_a_missing_score(refused, tmp_path, text, row, n_rows):
    path = write_text(tmp_path / "test.csv", text)
    assert refused(path, "--models", "a") == (
        f"Column 'a' of {path} must have a finite value in every row, got none in 1 of {n_rows}, "
        f"in data row(s) {row}."
    )


def test_empty_lines_between_rows_of_several_cells_are_no_rows(compare, tmp_path):
    path = write_text(tmp_path / "test.csv", "\na,b\n1,0\n\n0,1\n1,1\n\n")
    assert compare(path, "--models", "a", "b").n_rows == 3


def test_folder_is_no_file(refused, tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "folder.csv"
    path.mkdir()
    assert refused(path, "--models", "a").startswith(f"Cannot read {path}: ")


@pytest.mark.parametrize("option", ["--label", "--models", "--groups", "--ids", "--sample-weight"])
def test_unknown_column_lists_the_columns(refused, file, option):
    arguments = {"--models": ["a", "b"], "--label": ["y"], "--metric": ["roc_auc"]}
    arguments[option] = ["z"]
    assert refused(file, *(part for key in arguments for part in [key, *arguments[key]])) == (
        f"{option} must name a column of {file}, got 'z'. Its columns are: item, user, y, a, b, "
        "weight."
    )


def test_repeated_column_is_refused(refused, tmp_path):
    path = write_text(tmp_path / "test.csv", "a,b,a\n1,2,3\n4,5,6\n")
    assert refused(path, "--models", "a", "b") == (
        f"--models must name one column of {path}, got 'a', of which there are 2. Rename them."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b\n1,0\n,1\n1,1\nNA,0\n",
            "must have a finite value in every row, got none in 2 of 4, in data row(s) 2, 4.",
        ),
        (
            "a,b\n1,0\ninf,1\n1,1\n",
            "must have a finite value in every row, got none in 1 of 3, in data row(s) 2.",
        ),
        ("a,b\n1,0\n1,1\nten,0\n", "must hold numbers, got 'ten' in data row 3."),
        ("a,b\n1,0\nTrue,1\n2,0\n", "must hold numbers, got 'True' in data row 2."),
        ("a,b\n1,0\n1,1\n1_0,0\n", "must hold numbers, got '1_0' in data row 3."),
        ("a,b\n1,0\n01,1\n0,0\n", "must hold numbers, got '01' in data row 2."),
    ],
)
def test_cells_that_are_no_numbers_are_refused(refused, tmp_path, text, message):
    path = write_text(tmp_path / "test.csv", text)
    assert refused(path, "--models", "a", "b") == f"Column 'a' of {path} {message}"


def test_the_same_table_in_other_wrappings(compare, run, file, data, tmp_path, monkeypatch):
    arguments = ("--label", "y", "--models", "a", "b", "--metric", "roc_auc")
    expected = tables(compare(file, *arguments))
    zipped = tmp_path / "zipped.csv.gz"
    zipped.write_bytes(gzip.compress(file.read_bytes()))
    assert tables(compare(zipped, *arguments)) == expected
    tabs = write(tmp_path / "tabs.tsv", data, "\t")
    assert tables(compare(tabs, *arguments)) == expected
    semicolons = write(tmp_path / "semicolons.csv", data, ";")
    assert tables(compare(semicolons, *arguments, "--separator", ";")) == expected
    marked = tmp_path / "marked.csv"
    marked.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b",", b", "))
    assert tables(compare(marked, *arguments)) == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    assert tables(compare("-", *arguments)) == expected


def test_parquet_gives_what_csv_gives(compare, file, data, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(data)
    frame["y"] = frame["y"].astype(bool)
    frame["user"] = frame["user"].astype("category")
    frame["a"] = frame["a"].astype("Float64")
    path = tmp_path / "test.parquet"
    frame.set_index("item").to_parquet(path)
    for more in ([], ["--groups", "user"], ["--ids", "item"]):
        arguments = ("--label", "y", "--models", "a", "b", "--metric", "roc_auc", *more)
        assert tables(compare(path, *arguments)) == tables(compare(file, *arguments))


def test_parquet_that_is_none(refused, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "test.parquet"
    path.write_bytes(b"a,b\n1,2\n")
    assert refused(path, "--models", "a").startswith(f"Cannot read {path}: ")


def test_missing_values_in_parquet(refused, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "test.parquet"
    pandas.DataFrame({"a": [1, None, 3], "b": ["x", None, "y"]}).to_parquet(path)
    for column, kind in (("a", "--models"), ("b", "--groups")):
        line = (
            refused(path, "--models", "a", kind, column)
            if column == "a"
            else refused(path, "--models", "b")
        )
        assert line == (
            f"Column {column!r} of {path} must have a finite value in every row, got none in 1 of "
            "3, in data row(s) 2."
        )


def test_digits_that_parquet_declares_as_text_are_text(refused, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "test.parquet"
    pandas.DataFrame({"a": ["1", "2"]}).to_parquet(path)
    assert refused(path, "--models", "a") == (
        f"Column 'a' of {path} must hold numbers, got '1' in data row 1."
    )


# Comparisons


def test_predictions_give_what_python_gives(compare, file, data):
    found = compare(file, "--label", "y", "--models", "a", "b", "--metric", "roc_auc",
                    "neg_log_loss", "--method", "bca", "--confidence-level", "0.9", "--baseline",
                    "b", "--alternative", "better", "--correction", "none", "--seed", "5",
                    "--jobs", "1", "--groups", "user", "--sample-weight", "weight")  # fmt: skip
    expected = compare_predictions(
        data["y"],
        {"a": data["a"], "b": data["b"]},
        scoring=["roc_auc", "neg_log_loss"],
        method="bca",
        confidence_level=0.9,
        baseline="b",
        alternative="better",
        correction=None,
        random_state=5,
        groups=[int(user) for user in data["user"]],
        sample_weight=data["weight"],
        n_resamples=199,
    )
    assert tables(found) == tables(expected)
    assert (found.unit, found.n_units, found.weighted) == ("clusters", 10, True)


def test_margins_families_and_pairs_give_what_python_gives(compare, file, data):
    found = compare(file, "--label", "y", "--models", "a", "b", "--metric", "roc_auc",
                    "neg_log_loss", "--margin-relative", "0.1", "--correction", "max-t",
                    "--family", "all", "--pairs", "all")  # fmt: skip
    expected = compare_predictions(
        data["y"],
        {"a": data["a"], "b": data["b"]},
        scoring=["roc_auc", "neg_log_loss"],
        margin_relative=0.1,
        correction="max-t",
        family="all",
        pairs="all",
        random_state=0,
        n_resamples=199,
    )
    assert tables(found) == tables(expected)
    assert found.margin_relative == 0.1


def test_permutation_tests_are_those_of_python(compare, file, data):
    found = compare(file, "--label", "y", "--models", "a", "b", "--metric", "roc_auc",
                    "--permutation")  # fmt: skip
    expected = compare_predictions(
        data["y"],
        {"a": data["a"], "b": data["b"]},
        scoring="roc_auc",
        permutation=True,
        random_state=0,
        n_resamples=199,
    )
    assert tables(found) == tables(expected)
    assert 0 < found.differences[0].p_permutation <= 1


def test_a_margin_belongs_to_one_metric(compare, refused, file):
    options = ("--label", "y", "--models", "a", "b", "--metric", "roc_auc")
    assert compare(file, *options, "--margin", "0.1").margin == 0.1
    assert refused(file, *options, "neg_log_loss", "--margin", "0.1") == (
        "--margin must say METRIC=NUMBER where there are several metrics, got one number for 2: it "
        "is in units of a metric. --margin-relative serves several."
    )
    assert refused(file, *options, "--margin", "-1").startswith(
        "--margin must be a positive number, got -1.0."
    )


def test_item_scores_by_exact_enumeration_req_A11(run, tmp_path):
    path = write_text(
        tmp_path / "items.csv", "old,new\nFalse,1\nTrue,1\nFalse,1\nFalse,0\nTrue,0\n"
    )
    status, out, _ = run("compare", path, "--models", "old", "new", "--resamples", "exact",
                         "--format", "json")  # fmt: skip
    (row,) = json.loads(out)["differences"]
    assert status == 0
    assert [row["difference"], row["ci_low"], row["ci_high"]] == pytest.approx([0.2, -0.4, 0.8])


def test_direction_is_declared_req_A02(compare, tmp_path):
    columns = {"old": [3.0, 4.0, 5.0, 4.5] * 5, "new": [2.0, 3.5, 4.0, 3.5] * 5}
    pytest.importorskip("pandas")
    path = write(tmp_path / "latency.csv", columns)
    models = ("--models", "old", "new")
    assert compare(path, *models).differences[0].verdict == "worse"
    assert compare(path, *models, "--lower-is-better").differences[0].verdict == "better"


def test_labels_in_words(compare, refused, tmp_path):
    columns = {
        "y": ["sick", "well", "sick", "well"] * 5,
        "a": ["sick", "well", "well", "well"] * 5,
        "p": [0.9, 0.2, 0.6, 0.4] * 5,
    }
    pytest.importorskip("pandas")
    path = write(tmp_path / "test.csv", columns)
    label = ("--label", "y", "--pos-label", "sick")
    f1 = compare(path, *label, "--models", "a", "--metric", "f1", "recall").scores
    assert [row.estimate for row in f1] == pytest.approx([2 / 3, 0.5])
    auc = compare(path, *label, "--models", "p", "--metric", "roc_auc").scores
    assert auc[0].estimate == 1.0
    assert refused(path, "--label", "y", "--models", "p", "--metric", "roc_auc") == (
        "--pos-label must be given for roc_auc: the labels are 'sick', 'well', and nothing says "
        "which of them is the positive class."
    )
    assert refused(path, "--label", "y", "--models", "a", "--metric", "f1", "--pos-label", "x") == (
        "--pos-label must be one of the labels 'sick', 'well', got 'x'."
    )


@pytest.mark.parametrize(
    ("labels", "positive"),
    [("True False", "True"), ("True False", "1"), ("1.0 0.0", "1"), ("2 1", "2"), ("02 01", "02")],
)
def test_positive_label_means_what_the_file_says(compare, tmp_path, labels, positive):
    pytest.importorskip("pandas")
    yes, no = labels.split()
    path = write(tmp_path / "test.csv", {"y": [yes, no] * 6, "a": [yes, yes, no] * 4})
    (row,) = compare(path, "--label", "y", "--models", "a", "--metric", "precision",
                     "--pos-label", positive).scores  # fmt: skip
    assert row.estimate == 0.5


def test_numbers_among_labels_in_words_stay_words(compare, tmp_path):
    pytest.importorskip("pandas")
    path = write(tmp_path / "test.csv", {"y": ["3", "x", "3", "y"] * 4, "a": [3] * 16})
    assert compare(path, "--label", "y", "--models", "a", "--metric", "accuracy").scores[
        0
    ].estimate == pytest.approx(0.5)


def test_metrics_of_two_kinds_of_columns(refused, file):
    arguments = (file, "--label", "y", "--models", "a", "b", "--metric")
    assert refused(*arguments, "accuracy", "roc_auc") == (
        "--metric must hold metrics that need the same kind of column, got accuracy (labels or "
        "values), roc_auc (probabilities). Compare them in two runs, on two kinds of columns."
    )
    line = refused(*arguments, "accuracy")
    assert re.fullmatch(
        r"--models must be labels for accuracy, got real values such as 0\.\d+ for model 'a'\. "
        r"Apply a threshold first, or choose metrics of probabilities\.",
        line,
    )


def test_probabilities_of_more_than_two_classes_do_not_fit_into_a_column(refused, file):
    assert refused(file, "--label", "user", "--models", "a", "--metric", "roc_auc") == (
        "--metric roc_auc needs a column of --label with two classes, got 10: one column a model "
        "cannot hold the probabilities of more."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--baseline", "c"],
            "--baseline must be the name of a model, one of 'a', 'b', got 'c'.",
        ),
        (
            ["--confidence-level", "95"],
            "--confidence-level must be a number between 0 and 1, got 95.0. For 95 % pass 0.95.",
        ),
        (
            ["--sample-weight", "minus"],
            "--sample-weight must not be negative, got it in row(s) 1. Rows are counted from 0 "
            "here.",
        ),
        (
            ["--groups", "one"],
            "--groups must hold at least 2 clusters, got only the group 7: what varies between "
            "clusters cannot be seen in one.",
        ),
    ],
)
def test_errors_of_the_library_speak_of_options(refused, tmp_path, arguments, message):
    pytest.importorskip("pandas")
    columns = {"a": [1, 0, 1], "b": [0, 0, 1], "minus": [1, -1, 1], "one": [7, 7, 7]}
    path = write(tmp_path / "test.csv", columns)
    assert refused(path, "--models", "a", "b", *arguments) == message


def test_warnings_are_lines_on_standard_error(run, tmp_path):
    pytest.importorskip("pandas")
    path = write(tmp_path / "test.csv", {"y": [0, 1, 1, 0] * 5, "a": [0, 1, 0, 0] * 5})
    status, out, err = run("compare", path, "--label", "y", "--models", "a", "--metric", "roc_auc")
    assert status == 0
    assert out.startswith("Bootstrap of a on 20 test rows\n")
    assert err == (
        "sklearn-pairboot: warning: roc_auc got only two distinct scores from a. If these are "
        "predicted labels, pass probabilities or decision values: labels say little of a ranking.\n"
    )


def test_large_numbers_are_numbers(compare, tmp_path):
    path = write_text(tmp_path / "test.csv", "a\n123456789012345678901\n1e3\n-2\n")
    (row,) = compare(path, "--models", "a").scores
    assert row.estimate == pytest.approx(123456789012345678901 / 3)


# Groups and ids


def test_groups_are_names_req_A18(compare, tmp_path):
    pytest.importorskip("pandas")
    groups = ["1", "01", "NA", "2"]
    path = write(tmp_path / "test.csv", {"g": groups * 3, "a": [1, 0, 1, 0] * 3})
    found = compare(path, "--models", "a", "--groups", "g")
    assert (found.unit, found.n_units, found.n_rows) == ("clusters", 4, 12)


@pytest.mark.parametrize("label", [True, False])
def test_second_file_is_joined_by_ids_req_B14(compare, file, data, tmp_path, label):
    order = np.random.default_rng(1).permutation(N)
    second = {key: [data[key][k] for k in order] for key in ("item", "b", "y")}
    first = {key: value for key, value in data.items() if key != "b"}
    one = write(tmp_path / "one.csv", first)
    two = write(tmp_path / "two.csv", second)
    question = ("--label", "y", "--metric", "roc_auc") if label else ()
    question += ("--groups", "user", "--sample-weight", "weight", "--ids", "item", "--models")
    for models in (("a", "b"), ("b", "a")):
        found = compare(one, "--second-file", two, *question, *models)
        in_order = file
        if not label and models[0] == "b":  # then rows come in the order of the second file
            rows = {key: [data[key][k] for k in order] for key in data}
            in_order = write(tmp_path / "shuffled.csv", rows)
        assert tables(found) == tables(compare(in_order, *question, *models))


def test_column_of_both_files_is_two_models(compare, tmp_path):
    pytest.importorskip("pandas")
    old = write(tmp_path / "old.csv", {"id": ["x", "y", "z"], "correct": [1, 0, 0]})
    new = write(tmp_path / "new.csv", {"id": ["z", "y", "x"], "correct": [1, 1, 1]})
    found = compare(old, "--second-file", new, "--ids", "id", "--models", "correct")
    assert found.models == ("old:correct", "new:correct")
    assert [row.estimate for row in found.scores] == pytest.approx([1 / 3, 1])
    (tmp_path / "run").mkdir()
    again = write(tmp_path / "run" / "old.csv", {"id": ["x", "y", "z"], "correct": [1, 0, 1]})
    found = compare(old, "--second-file", again, "--ids", "id", "--models", "correct")
    assert found.models == (f"{old}:correct", f"{again}:correct")


@pytest.mark.parametrize("label", [True, False])
def test_ids_that_do_not_match_are_listed(refused, tmp_path, label):
    pytest.importorskip("pandas")
    one = write(tmp_path / "one.csv", {"id": ["01", "2", "3"], "y": [0, 1, 1], "a": [0, 1, 1]})
    two = write(tmp_path / "two.csv", {"id": ["1", "2", "2"], "b": [0, 1, 1]})
    question = ("--label", "y", "--metric", "accuracy") if label else ()
    line = refused(one, "--second-file", two, "--ids", "id", "--models", "a", "b", *question)
    assert line == (
        "--ids must name the same items, each once, everywhere; got b: duplicate ids '2'; b: "
        f"missing ids '01', '3'; b: ids that {'y_true' if label else 'a'} lacks '1'. No row is "
        "dropped for one model alone: repair the inputs, or restrict all of them to common ids "
        "yourself and say so."
    )


def test_ids_are_text_in_csv_and_parquet(compare, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    one = write(tmp_path / "one.csv", {"id": ["3", "2", "1"], "a": [1, 1, 0]})
    two = tmp_path / "two.parquet"
    pandas.DataFrame({"id": [1, 2, 3], "b": [0, 1, 1]}).to_parquet(two)
    found = compare(one, "--second-file", two, "--ids", "id", "--models", "a", "b")
    assert found.differences[0].std_error == 0  # paired by id, the answers are the same


def test_empty_id_is_refused(refused, tmp_path):
    path = write_text(tmp_path / "test.csv", "id,a\nx,1\n,0\nNA,1\n")
    assert refused(path, "--models", "a", "--ids", "id") == (
        f"Column 'id' of {path} must have a finite value in every row, got none in 1 of 3, in "
        "data row(s) 2."
    )


def test_files_that_disagree_on_the_labels_are_refused_req_A22(refused, tmp_path):
    pytest.importorskip("pandas")
    one = write(tmp_path / "one.csv", {"id": ["p", "q", "r"], "y": [0, 1, 1], "a": [0, 1, 1]})
    two = write(tmp_path / "two.csv", {"id": ["r", "q", "p"], "y": [1, 1, 1], "b": [0, 1, 1]})
    arguments = ("--ids", "id", "--models", "a", "b", "--label", "y", "--metric", "accuracy")
    assert refused(one, "--second-file", two, *arguments) == (
        "Column 'y' must be the same in both files, got different values for id(s) 'p'. Were both "
        "models scored on the same version of the data?"
    )


def test_second_file_without_a_model_is_refused(refused, tmp_path):
    pytest.importorskip("pandas")
    one = write(tmp_path / "one.csv", {"id": ["p", "q"], "a": [0, 1], "b": [1, 1]})
    two = write(tmp_path / "two.csv", {"id": ["p", "q"], "c": [0, 1]})
    assert refused(one, "--second-file", two, "--ids", "id", "--models", "a", "b") == (
        f"--models must name a column of {two} too, got 'a', 'b'. Its columns are: id, c."
    )


@pytest.mark.parametrize("as_link", [False, True])
def test_second_file_that_is_the_first_is_refused(refused, tmp_path, as_link):
    pytest.importorskip("pandas")
    one = write(tmp_path / "one.csv", {"id": ["p", "q"], "correct": [0, 1]})
    two = tmp_path / "two.csv" if as_link else tmp_path / "." / "one.csv"
    if as_link:
        two.symlink_to(one)
    assert refused(one, "--second-file", two, "--ids", "id", "--models", "correct") == (
        f"--second-file must be another file than FILE, got '{two}' for both."
    )
    assert refused("-", "--second-file", "-", "--ids", "id", "--models", "correct") == (
        "--second-file must be another file than FILE, got '-' for both."
    )


def test_model_called_like_a_file_and_a_column_is_refused(refused, tmp_path):
    pytest.importorskip("pandas")
    columns = {"id": ["p", "q"], "correct": [0, 1]}
    one = write(tmp_path / "one.csv", {**columns, "one:correct": [1, 1]})
    two = write(tmp_path / "two.csv", columns)
    for models in (("one:correct", "correct"), ("correct", "one:correct")):
        assert refused(one, "--second-file", two, "--ids", "id", "--models", *models) == (
            "--models must give every model a name of its own, got 'one:correct' twice: a column "
            "of both files is two models, called FILE:COL. Name the models with --names."
        )


# Output


def test_output_never_replaces_what_is_read(refused, file, data, tmp_path):
    second = write(tmp_path / "second.csv", {"item": data["item"], "c": data["b"]})
    before = file.read_bytes(), second.read_bytes()
    link = tmp_path / "link.txt"
    link.symlink_to(second)
    question = (file, "--second-file", second, "--ids", "item", "--models", "a", "c")
    for output in (file, second, link):
        assert refused(*question, "--output", output) == (
            f"--output must be another file than those that are read, got '{output}'."
        )
    assert (file.read_bytes(), second.read_bytes()) == before


def test_formats(run, file, data, tmp_path):
    question = ("compare", file, "--models", "a", "b", *FAST)
    expected = compare_scores({"a": data["a"], "b": data["b"]}, n_resamples=199, random_state=0)
    assert run(*question) == (0, expected.summary() + "\n", "")
    assert run(*question, "--format", "markdown") == (0, expected.to_markdown(), "")
    status, text, err = run(*question, "--format", "json")
    assert (status, err) == (0, "")
    assert json.loads(text) == json.loads(expected.to_json())
    assert ComparisonResult.from_json(text).summary() == expected.summary()
    output = tmp_path / "report.txt"
    assert run(*question, "--output", output) == (0, "", "")
    assert output.read_text(encoding="utf-8") == expected.summary() + "\n"


def test_output_that_cannot_be_written(refused, file, tmp_path):
    line = refused(file, "--models", "a", "b", *FAST, "--output", tmp_path)
    assert line.startswith(f"Cannot write {tmp_path}: ")


def test_seed_repeats_a_report(run, file):
    question = ("compare", file, "--models", "a", "b", *FAST, "--seed")
    assert run(*question, "1") == run(*question, "1")
    assert run(*question, "1") != run(*question, "2")


def test_module_runs_as_a_program():
    process = subprocess.run(
        [sys.executable, "-m", "sklearn_pairboot", "compare", "absent.xlsx", "--models", "a"],
        capture_output=True,
        text=True,
    )
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("sklearn-pairboot: error: Cannot read absent.xlsx: ")
    assert process.stderr.count("\n") == 1


# What pytest itself was started with is not what a user's shell has.
BUFFERED = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}


def process(*arguments, **options):
    """Run the command line as a user does."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    command = [sys.executable, "-m", "sklearn_pairboot", *map(str, arguments)]
    return subprocess.run(command, **options)


@pytest.mark.newest
def test_standard_input_of_a_process(compare, file):
    question = ("--models", "a", "b", *FAST, "--format", "json")
    with_mark = b"\xef\xbb\xbf" + file.read_bytes()
    found = process("compare", "-", *question, input=with_mark)
    assert (found.returncode, found.stderr) == (0, b"")
    result = ComparisonResult.from_json(found.stdout.decode())
    assert tables(result) == tables(compare(file, "--models", "a", "b"))


@pytest.mark.newest
def test_standard_input_that_cannot_be_read():
    pytest.importorskip("pandas")
    for content, message in (
        (b"", b"it is empty."),
        (b"\xe9,b\n1,2\n", b"it is not UTF-8 text."),
    ):
        found = process("compare", "-", "--models", "a", input=content)
        assert (found.returncode, found.stdout, found.stderr) == (
            2,
            b"",
            b"sklearn-pairboot: error: Cannot read standard input: " + message + b"\n",
        )


@pytest.mark.newest
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_standard_output_that_is_full(file):
    unbuffered = {**BUFFERED, "PYTHONUNBUFFERED": "1"}
    report = ("compare", file, "--models", "a", "b", *FAST)
    for arguments, environment in (
        (report, BUFFERED),
        (report, unbuffered),
        (("--help",), BUFFERED),
        (("--version",), unbuffered),
    ):
        with open("/dev/full", "wb") as full:
            found = process(*arguments, stdout=full, env=environment)
        assert (found.returncode, found.stderr) == (
            2,
            b"sklearn-pairboot: error: Cannot write standard output: No space left on device.\n",
        )


@pytest.mark.newest
@pytest.mark.skipif(os.name != "posix", reason="needs pipes of POSIX")
def test_reader_that_has_gone_is_no_error(file):
    for arguments in (("compare", file, "--models", "a", "b", *FAST), ("--help",)):
        read, write_end = os.pipe()
        os.close(read)
        found = process(*arguments, stdout=write_end, env=BUFFERED)
        os.close(write_end)
        assert (found.returncode, found.stderr) == (0, b"")


@pytest.mark.newest
def test_encoding_that_lacks_a_letter_of_a_name(tmp_path):
    path = write_text(tmp_path / "test.csv", "a\u017e\n1\n0\n1\n")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "1"}
    question = ("compare", path, "--models", "a\u017e", *FAST)
    found = process(*question, env=environment)
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr == (
        b"sklearn-pairboot: error: Cannot write standard output: its encoding, latin-1, has no "
        b"'\\u017e'. See --output, which writes UTF-8.\n"
    )
    output = tmp_path / "report.txt"
    assert process(*question, "--output", output, env=environment).returncode == 0
    assert "a\u017e" in output.read_text(encoding="utf-8")


def test_control_characters_do_not_reach_the_terminal(run, refused, tmp_path):
    path = write_text(tmp_path / "test.csv", '"a\x1b[31m\nx",b\n1,0\n0,1\n1,1\n')
    status, out, err = run("compare", path, "--models", "a\x1b[31m\nx", "b", *FAST)
    assert (status, err) == (0, "")
    assert out.replace("\n", "").isprintable()
    assert r" a\x1b[31m\nx " in out
    assert refused(path, "--models", "c").isprintable()


# Names and ids


def test_names_in_place_of_those_of_the_columns(compare, refused, tmp_path):
    pytest.importorskip("pandas")
    one = write(tmp_path / "one.csv", {"id": ["p", "q", "r"], "score": [0, 1, 0], "b": [1, 1, 1]})
    two = write(tmp_path / "two.csv", {"id": ["r", "q", "p"], "score": [1, 1, 0]})
    both = (one, "--second-file", two, "--ids", "id", "--models", "score")
    found = compare(*both, "--names", "before", "=after", "--baseline", "before")
    assert found.models == ("before", "'=after")
    assert [row.estimate for row in found.scores] == pytest.approx([1 / 3, 2 / 3])
    alone = compare(one, "--models", "b", "score", "--names", "x", "y")
    assert [row.estimate for row in alone.scores] == pytest.approx([1, 1 / 3])
    assert (alone.models, alone.baseline) == (("x", "y"), "x")
    assert refused(*both, "--names", "before") == (
        "--names must name every model, of which there are 2 ('one:score', 'two:score'), got 1."
    )
    assert refused(*both, "--names", "a", "a") == (
        "--names must give every model a name of its own, got 'a' twice."
    )
    assert refused(*both, "--names", "a", "") == "--names must not be empty, got ''."
    assert refused(one, "--long", "id,b,score", "--names", "a").startswith(
        "--names must come without --long"
    )


def test_repeated_ids_in_one_file_are_an_error_unless_groups_are_drawn(compare, refused, tmp_path):
    pytest.importorskip("pandas")
    path = write(tmp_path / "one.csv", {"id": list("ppqqr"), "a": [0, 1, 0, 1, 1]})
    assert refused(path, "--models", "a", "--ids", "id") == (
        "--ids must be unique without --groups, got 2 of them in several rows: 'p', 'q'. Rows of "
        "one item are not independent: name the column with --groups, and whole items are drawn."
    )
    found = compare(path, "--models", "a", "--ids", "id", "--groups", "id")
    assert (found.unit, found.n_units) == ("clusters", 3)
