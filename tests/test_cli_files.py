"""Files that the command line reads and writes: other kinds, bad ones, hostile ones."""

import contextlib
import gzip
import io
import json
import os
import pickle
import sys

import numpy as np
import pytest

from sklearn_pairboot import ComparisonResult, cli, compare_scores
from sklearn_pairboot._cli import files, output, streams

FAST = ("--resamples", "199")
RNG = np.random.default_rng(0)
ITEMS = [f"{k:02d}" for k in range(30)]
SCORES = {"a": RNG.random(30).round(3).tolist(), "b": RNG.random(30).round(3).tolist()}
TEMPLATES = [f"t{k // 5}" for k in range(30)]


@pytest.fixture
def run():
    """Run the command line; give exit status, standard output and standard error."""

    def run(*arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = cli.main([str(argument) for argument in arguments])
            except SystemExit as stop:
                status = stop.code
        return status, out.getvalue(), err.getvalue()

    return run


@pytest.fixture
def compare(run):
    """Run a comparison that succeeds; give its result."""

    def compare(*arguments):
        status, out, err = run("compare", *arguments, *FAST, "--format", "json")
        assert (status, err) == (0, "")
        return ComparisonResult.from_json(out)

    return compare


@pytest.fixture
def refused(run):
    """Run a comparison that fails; give the one line it prints, without its beginning."""

    def refused(*arguments):
        status, out, err = run("compare", *arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
        return err.removeprefix("sklearn-pairboot: error: ").rstrip("\n")

    return refused


def tables(result):
    """Both tables, as text so that NaN equals NaN."""
    return [repr(row) for row in (*result.scores, *result.differences)]


def write_csv(path, columns):
    pytest.importorskip("pandas")
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(map(str, row)) for row in (columns, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def wide_rows():
    return [
        {"item": item, "template": template, "a": a, "b": b}
        for item, template, a, b in zip(ITEMS, TEMPLATES, *SCORES.values(), strict=True)
    ]


def long_rows():
    return [
        {"item": item, "template": template, "model": model, "score": value}
        for k, (item, template) in enumerate(zip(ITEMS, TEMPLATES, strict=True))
        for model, value in (("a", SCORES["a"][k]), ("b", SCORES["b"][k]))
    ]


EXPECTED = {"n_resamples": 199, "random_state": 0}


# JSON lines


def test_json_lines_give_what_python_gives(compare, tmp_path):
    expected = compare_scores(SCORES, groups=TEMPLATES, **EXPECTED)
    question = ("--models", "a", "b", "--groups", "template")
    plain = write_lines(tmp_path / "test.jsonl", wide_rows())
    assert tables(compare(plain, *question)) == tables(expected)
    zipped = tmp_path / "test.ndjson.gz"
    zipped.write_bytes(gzip.compress(b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\n\n")))
    assert tables(compare(zipped, *question)) == tables(expected)


def test_json_lines_need_no_pandas(compare, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    path = write_lines(tmp_path / "test.jsonl", wide_rows())
    assert tables(compare(path, "--models", "a", "b")) == tables(compare_scores(SCORES, **EXPECTED))


def test_two_json_files_are_joined_by_id(compare, tmp_path):
    rows = wide_rows()
    one = write_lines(tmp_path / "one.jsonl", [{"id": r["item"], "ok": r["a"]} for r in rows])
    two = write_lines(tmp_path / "two.jsonl", [{"id": r["item"], "ok": r["b"]} for r in rows[::-1]])
    found = compare(one, "--second-file", two, "--ids", "id", "--models", "ok")
    expected = compare_scores(SCORES, **EXPECTED)
    assert found.models == ("one:ok", "two:ok")
    assert [row.ci_low for row in found.differences] == [row.ci_low for row in expected.differences]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Cannot read {}: it is empty."),
        ("\n\n", "Cannot read {}: it has no rows below its header."),
        ('{"a": 1}\n{oops\n', "Cannot read {}: line 2 is not JSON: "),
        ("[1, 2]\n", "Cannot read {}: line 1 must hold one object, such as "),
        ('{"b": 1}\n', "--models must name a column of {}, got 'a'. Its columns are: b."),
        (
            '{"a": 1}\n{"a": "two"}\n',
            "Column 'a' of {} must hold values of one kind, got numbers such as 1 in data row 1 "
            "and text such as 'two' in data row 2.",
        ),
        (
            '{"a": 1}\n{"a": [2]}\n',
            "Column 'a' of {} must hold single values, got a list in data row 2.",
        ),
        (
            '{"a": 1}\n{"b": 1}\n{"a": null}\n{"a": NaN}\n{"a": 1e999}\n',
            "Column 'a' of {} must have a finite value in every row, got none in 4 of 5, in data "
            "row(s) 2, 3, 4, 5.",
        ),
        ('{"a": "1"}\n', "Column 'a' of {} must hold numbers, got '1' in data row 1."),
        ("[" * 100_000, "Cannot read {}: "),
    ],
)
def test_bad_json_lines(refused, tmp_path, text, message):
    path = tmp_path / "test.jsonl"
    path.write_text(text, encoding="utf-8")
    assert refused(path, "--models", "a").startswith(message.format(path))


def test_truth_values_are_numbers(compare, tmp_path):
    path = write_lines(tmp_path / "test.jsonl", [{"a": k % 3 == 0} for k in range(30)])
    assert compare(path, "--models", "a").scores[0].estimate == pytest.approx(1 / 3)


# Long format


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_long_format_gives_what_wide_gives(compare, tmp_path, kind):
    rows = [long_rows()[k] for k in np.random.default_rng(1).permutation(60)]
    rows.sort(key=lambda row: row["item"])  # items in order, models in any
    path = tmp_path / f"test.{kind}"
    if kind == "jsonl":
        write_lines(path, rows)
    elif kind == "csv":
        write_csv(path, {name: [row[name] for row in rows] for name in rows[0]})
    else:
        pytest.importorskip("pyarrow")
        pytest.importorskip("pandas").DataFrame(rows).to_parquet(path)
    question = ("--long", "item,model,score", "--models", "a", "b", "--groups", "template")
    expected = compare_scores(SCORES, groups=TEMPLATES, **EXPECTED)
    assert tables(compare(path, *question)) == tables(expected)


def test_long_format_compares_all_models_in_order(compare, tmp_path):
    rows = [*long_rows(), *({"item": item, "model": "c", "score": 1} for item in ITEMS)]
    path = write_lines(tmp_path / "test.jsonl", rows)
    assert compare(path, "--long", "item,model,score").models == ("a", "b", "c")
    found = compare(path, "--long", "item,model,score", "--models", "c", "a")
    assert (found.models, found.baseline) == (("c", "a"), "c")


def test_repeats_are_averaged_only_where_asked_for_req_B16(run, refused, tmp_path):
    rng = np.random.default_rng(2)
    noise = {(item, model): rng.normal(size=3) for item in ITEMS for model in "ab"}
    rows = [
        {**row, "score": row["score"] + part}
        for row in long_rows()
        for part in noise[row["item"], row["model"]].tolist()
    ]
    path = write_lines(tmp_path / "test.jsonl", rows)
    assert refused(path, "--long", "item,model,score") == (
        "--long must have one row for each item and model, got 3 rows of item '00' and model 'a', "
        "and repeats in 59 further places. If they are repeats, such as several "
        "generations, --average-repeats takes their mean; if they are other items, name them apart."
    )
    status, out, err = run("compare", path, "--long", "item,model,score", "--average-repeats",
                           *FAST, "--format", "json")  # fmt: skip
    assert status == 0
    assert err.startswith("sklearn-pairboot: warning: 180 scores are averaged to 60, one for each")
    found = ComparisonResult.from_json(out)
    means = {
        model: [SCORES[model][k] + noise[item, model].mean() for k, item in enumerate(ITEMS)]
        for model in "ab"
    }
    expected = compare_scores(means, **EXPECTED)
    assert found.n_rows == 30
    for one, other in zip(found.differences, expected.differences, strict=True):
        assert [one.difference, one.ci_low, one.ci_high] == pytest.approx(
            [other.difference, other.ci_low, other.ci_high]
        )


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (
            lambda rows: rows[:-1],
            (),
            "--long must name the same items, each once, everywhere; got b: missing ids '29'.",
        ),
        (
            lambda rows: [{**rows[0], "template": "other"}, *rows[1:]],
            ("--groups", "template"),
            "--groups must be the same in all rows of an item, got different values for item(s) "
            "'00'.",
        ),
        (
            lambda rows: rows,
            ("--models", "a", "z"),
            "--models must name models in the column 'model', which holds 'a', 'b', got 'z'.",
        ),
        (
            lambda rows: [{**rows[0], "score": None}, *rows[1:]],
            (),
            "Column 'score' of {} must have a finite value in every row, got none in 1 of 60, in "
            "data row(s) 1.",
        ),
        (
            lambda rows: rows,
            ("--label", "y", "--metric", "accuracy"),
            "--label must come without --long, whose rows hold the score of one model on one item "
            "each.",
        ),
    ],
)
def test_bad_long_format(refused, tmp_path, change, arguments, message):
    path = write_lines(tmp_path / "test.jsonl", change(long_rows()))
    found = refused(path, "--long", "item,model,score", *arguments)
    assert found.startswith(message.format(path))


@pytest.mark.parametrize("value", ["item,model", "a,b,a", "a,,b", "a,b,c,d"])
def test_long_names_three_columns(refused, value):
    assert refused("f.csv", "--long", value).startswith("--long must be three columns")


def test_models_must_be_said_in_one_way(refused):
    assert refused("f.csv").startswith("--models must name the columns of the models' answers.")
    assert refused("f.csv", "--models", "a", "--average-repeats") == (
        "--average-repeats needs --long."
    )


# Bad files


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "utf-32"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_wrong_encodings(refused, tmp_path, encoding, kind):
    pytest.importorskip("pandas")
    path = tmp_path / f"test.{kind}"
    text = "\u00e9,b\n1,2\n" if kind == "csv" else '{"\u00e9": 1}\n'
    path.write_bytes(text.encode(encoding))
    line = refused(path, "--models", "\u00e9")
    if encoding == "utf-16":
        assert (
            line == f"Cannot read {path}: it is UTF-16 or UTF-32, not UTF-8 text. Save it as UTF-8."
        )


def test_a_file_too_large_is_refused_before_it_is_read(refused, tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(3 * 10**9)  # of which no block is written
    assert refused(path, "--models", "a").startswith(
        f"Cannot read {path}: it holds 3.0 GB, more than the 2.0 GB of cells that are read."
    )


@pytest.mark.parametrize("kind", ["csv.gz", "jsonl.gz"])
def test_small_archive_of_a_large_file(refused, tmp_path, monkeypatch, kind):
    pytest.importorskip("pandas")
    monkeypatch.setattr(streams, "MOST_BYTES", 10**6)
    path = tmp_path / f"test.{kind}"
    line = b"a,b\n" + b"1,2\n" * 500_000 if kind == "csv.gz" else b'{"a": 1}\n' * 300_000
    path.write_bytes(gzip.compress(line))
    assert path.stat().st_size < 10**5
    assert "more than the 0.0 GB of cells" in refused(path, "--models", "a")


def test_columns_that_are_not_needed_are_not_kept(tmp_path):
    pytest.importorskip("pandas")
    path = write_csv(tmp_path / "test.csv", {"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    table = files.read_table(str(path), None, {"b", None})
    assert (table.names, table.cells) == (("a", "b", "c"), {1: ["3", "4"]})


def test_parquet_of_which_too_much_is_needed(refused, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "test.parquet"
    wide = np.random.default_rng(0).random(2000)
    pandas.DataFrame({"a": wide, "b": range(2000)}).to_parquet(path)
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    assert refused(path, "--models", "a").startswith(f"Cannot read {path}: it holds ")


def test_rows_are_read_in_parts(compare, tmp_path, monkeypatch):
    path = write_csv(tmp_path / "test.csv", SCORES)
    expected = tables(compare(path, "--models", "a", "b"))
    single = write_csv(tmp_path / "single.csv", {"a": SCORES["a"]})
    of_single = tables(compare(single, "--models", "a"))
    monkeypatch.setattr(files, "_ROWS_AT_ONCE", 7)
    assert tables(compare(path, "--models", "a", "b")) == expected
    assert tables(compare(single, "--models", "a")) == of_single


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user that is not root")
def test_file_that_may_not_be_read(refused, tmp_path):
    path = write_csv(tmp_path / "test.csv", SCORES)
    path.chmod(0)
    assert refused(path, "--models", "a") == f"Cannot read {path}: Permission denied."


class Bomb:
    def __reduce__(self):
        return (os.mkdir, (os.environ["PLACE_OF_THE_BOMB"],))


@pytest.mark.parametrize("name", ["x.pkl", "x.parquet", "x.csv", "x.jsonl", "x.json", "x.csv.gz"])
def test_nothing_that_is_read_is_run(run, tmp_path, monkeypatch, name):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("PLACE_OF_THE_BOMB", str(tmp_path / "exploded"))
    path = tmp_path / name
    path.write_bytes(pickle.dumps(Bomb()))
    for command in (("compare", path, "--models", "a"), ("report", path, "--models", "a"),
                    ("report", path), ("gate", path, "--require", "better")):  # fmt: skip
        status, out, err = run(*command)
        assert (status, out, err.count("\n")) == (2, "", 1)
    assert not (tmp_path / "exploded").exists()


# Stored results


def test_report_in_other_forms(run, tmp_path):
    path = write_csv(tmp_path / "test.csv", SCORES)
    stored, page = tmp_path / "result.json", tmp_path / "page.md"
    assert run("compare", path, "--models", "a", "b", *FAST, "--output", stored) == (0, "", "")
    expected = compare_scores(SCORES, **EXPECTED)
    assert run("report", stored) == (0, expected.summary() + "\n", "")
    assert run("report", stored, "--output", page) == (0, "", "")
    assert page.read_text(encoding="utf-8") == expected.to_markdown()
    assert run("report", path, "--models", "a", "b", *FAST)[1] == expected.summary() + "\n"
    again = json.loads(run("report", stored, "--format", "json")[1])
    assert again == json.loads(stored.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("form", "ending"), [("html", ".html"), ("latex", ".tex")])
def test_pages_for_browsers_and_papers(run, tmp_path, form, ending):
    path = write_csv(tmp_path / "test.csv", SCORES)
    page = tmp_path / f"page{ending}"
    question = ("compare", path, "--models", "a", "b", *FAST)
    assert run(*question, "--output", page) == (0, "", "")
    assert run(*question, "--format", form)[1] == page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", '{"format": "other"}', '{"format": "sklearn-pairboot result"}', "[" * 99_999],
)
def test_stored_result_that_is_none(run, tmp_path, text):
    path = tmp_path / "result.json"
    path.write_text(text, encoding="utf-8")
    status, out, err = run("report", path)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"sklearn-pairboot: error: Cannot read {path}: ")


# What is written


def test_failure_leaves_what_was_there(run, tmp_path, monkeypatch):
    path = write_csv(tmp_path / "test.csv", SCORES)
    one, two = tmp_path / "one.json", tmp_path / "two.md"
    one.write_text("kept", encoding="utf-8")
    question = ("compare", path, "--models", "a", "b", *FAST, "--output", one, "--output", two)
    before = sorted(os.listdir(tmp_path))

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(output.os, "chmod", full)
        status, out, err = run(*question)
    assert (status, out) == (2, "")
    assert err == f"sklearn-pairboot: error: Cannot write {one}: No space left on device.\n"
    assert sorted(os.listdir(tmp_path)) == before
    assert one.read_text(encoding="utf-8") == "kept"
    assert run(*question) == (0, "", "")
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "two.md"])
    ComparisonResult.from_json(one.read_text(encoding="utf-8"))


@pytest.mark.skipif(os.name != "posix", reason="needs permissions of POSIX")
def test_output_keeps_permissions_and_links(run, tmp_path):
    path = write_csv(tmp_path / "test.csv", SCORES)
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    assert run("compare", path, "--models", "a", *FAST, "--output", link)[0] == 0
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    ComparisonResult.from_json(real.read_text(encoding="utf-8"))
    assert run("compare", path, "--models", "a", *FAST, "--output", "/dev/null")[0] == 0


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (["a.json", "a.json"], "--output must name each file once."),
        ([""], "--output must not be empty, got ''. Leave it out, or say which."),
    ],
)
def test_outputs_are_checked_before_work(refused, outputs, message):
    options = [part for name in outputs for part in ("--output", name)]
    assert refused("absent.csv", "--models", "a", *options) == message


def test_one_format_for_several_outputs_is_refused(refused):
    line = refused("absent.csv", "--models", "a", "--output", "a.md", "--output", "b.md",
                   "--format", "json")  # fmt: skip
    assert line.startswith("--format must come with one --output at most, got 2")


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("a\t=1", "a\\t=1"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("plain - name", "plain - name"),
    ],
)
def test_names_are_made_harmless(run, tmp_path, name, safe):
    assert output.neutral(name) == safe
    assert output.neutral(f"\t{name}").startswith("\\t")
    rows = [{"item": k, "model": m, "score": k % 3} for k in range(9) for m in ("old", name)]
    path = write_lines(tmp_path / "test.jsonl", rows)
    question = ("compare", path, "--long", "item,model,score", *FAST, "--baseline", name)
    for form in ("text", "markdown", "json"):
        status, out, err = run(*question, "--format", form)
        assert (status, err) == (0, "")
        assert out.replace("\n", "").isprintable()
    assert json.loads(out)["models"] == ["old", safe]
    assert json.loads(out)["baseline"] == safe
    # A result that somebody else has written is read with the same care.
    result = compare_scores({"old": [1, 0, 1], name: [0, 0, 1]}, **EXPECTED)
    stored = tmp_path / "result.json"
    stored.write_text(result.to_json(), encoding="utf-8")
    assert json.loads(run("report", stored, "--format", "json")[1])["models"] == ["old", safe]


def test_names_that_become_one_are_refused(refused, tmp_path):
    path = write_csv(tmp_path / "test.csv", {"=a": [1, 0], "'=a": [1, 1]})
    assert refused(path, "--models", "=a", "'=a").startswith(
        '--models must give every model a name of its own, got "\'=a" twice'
    )


# Progress


def test_progress_is_shown_on_terminals_and_where_asked_for(run, tmp_path):
    pytest.importorskip("tqdm")
    path = write_csv(tmp_path / "test.csv", SCORES)
    question = ("compare", path, "--models", "a", "b", *FAST)
    status, out, err = run(*question)
    assert (status, err) == (0, "")
    assert run(*question, "--progress")[:2] == (0, out)
    assert "resampling" in run(*question, "--progress")[2]

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(terminal):
        assert cli.main(list(map(str, question))) == 0
    assert "resampling" in terminal.getvalue()
