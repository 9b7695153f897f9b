"""Faults that must not look like the verdict of a gate: exit status 2, and one line at most."""

import copy
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from sklearn_pairboot import cli, compare_scores
from sklearn_pairboot._cli import output

LINES = "".join(f'{{"id": {k}, "a": {k % 3}, "b": {k % 5}, "p": {k % 3 / 2}}}\n' for k in range(20))
QUESTION = ("--models", "a", "b", "--resamples", "99")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "test.jsonl"
    path.write_text(LINES, encoding="utf-8")
    return path


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
def refused(run):
    def refused(*arguments):
        status, out, err = run(*arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
        return err.removeprefix("sklearn-pairboot: error: ").rstrip("\n")

    return refused


def places(value, place=()):
    """List the places of all values in nested lists and dictionaries."""
    yield place
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            yield from places(part, (*place, key))


@pytest.mark.parametrize("seed", range(3))
def test_a_stored_result_with_any_value_changed_is_read_or_refused(run, tmp_path, seed):
    rng = np.random.default_rng(seed)
    scores = {"a": rng.random(12), "b": rng.random(12)}
    whole = compare_scores(scores, n_resamples=99, margin=0.5, random_state=0).to_json()
    path = tmp_path / "result.json"
    all_places = [place for place in places(json.loads(whole)) if place]
    for k in rng.choice(len(all_places), 12, replace=False):
        for value in (None, -1, True, "=x\x1b[31m", [], {}, [[]]):
            data = copy.deepcopy(json.loads(whole))
            part = data
            for key in all_places[k][:-1]:
                part = part[key]
            part[all_places[k][-1]] = value
            path.write_text(json.dumps(data), encoding="utf-8")
            for command in (("report", path), ("gate", path, "--require", "not-worse")):
                status, out, err = run(*command)
                where = (all_places[k], value, err)
                assert status in ((0,) if command[0] == "report" else (0, 1)) or (
                    status,
                    out,
                    err.count("\n"),
                ) == (2, "", 1), where
                assert "This is a fault" not in err, where
                assert "\x1b" not in out + err, where


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            ZeroDivisionError("division by zero"),
            "This is a fault of sklearn-pairboot. Please report it with the command: "
            "ZeroDivisionError: division by zero.",
        ),
        (KeyboardInterrupt(), "Interrupted."),
    ],
)
def test_a_crash_is_no_verdict(refused, file, monkeypatch, error, line):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(cli, "compare", fail)
    assert refused("gate", file, *QUESTION, "--require", "better") == line


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_errors_that_cannot_be_written_keep_their_status():
    command = f"{sys.executable} -m sklearn_pairboot compare absent.csv --models a b"
    for stderr in ("/dev/full", "&-"):
        made = subprocess.run(f"{command} 2>{stderr}", shell=True, capture_output=True, text=True)
        assert (made.returncode, made.stdout) == (2, "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl"])
def test_named_pipes_are_read_once(run, tmp_path, ending):
    import gzip

    text = LINES if ending == ".jsonl" else "a,b\n" + "1,2\n3,1\n" * 10
    if ending != ".jsonl":
        pytest.importorskip("pandas")
    content = text.encode()
    path = tmp_path / f"pipe{ending}"
    os.mkfifo(path)
    writer = threading.Thread(
        target=path.write_bytes,
        args=(gzip.compress(content) if ending.endswith("gz") else content,),
        daemon=True,
    )
    writer.start()
    status, out, err = run("compare", path, *QUESTION)
    assert (status, err) == (0, "")
    assert out.startswith("Paired bootstrap of 2 models on 20 test rows")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_encodings_with_zeros(refused, tmp_path, encoding):
    path = tmp_path / "test.jsonl"
    path.write_bytes(LINES.encode(encoding))
    assert refused("compare", path, *QUESTION) == (
        f"Cannot read {path}: it is UTF-16 or UTF-32, not UTF-8 text. Save it as UTF-8."
    )


def test_a_mark_of_utf_8_alone_is_an_empty_file(refused, tmp_path):
    path = tmp_path / "test.jsonl"
    path.write_bytes(b"\xef\xbb\xbf")
    assert refused("compare", path, *QUESTION) == f"Cannot read {path}: it is empty."


def test_truth_values_among_numbers_are_of_two_kinds(refused, file):
    file.write_text(LINES.replace('"a": 2', '"a": true'), encoding="utf-8")
    assert refused("compare", file, *QUESTION) == (
        f"Column 'a' of {file} must hold values of one kind, got numbers such as 0 in data row 1 "
        "and truth values such as True in data row 3."
    )


def test_decimal_commas_are_not_guessed(refused, tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "test.csv"
    path.write_text("a;b\n" + "0,5;0,6\n" * 5, encoding="utf-8")
    assert refused("compare", path, *QUESTION, "--separator", ";") == (
        f"Column 'a' of {path} must hold numbers, got '0,5' in data row 1. Write decimals with a "
        "point."
    )


def test_values_outside_of_probabilities_name_model_and_rows(refused, file):
    lines = [json.loads(line) for line in LINES.splitlines()]
    file.write_text("\n".join(json.dumps({**line, "y": line["id"] % 2}) for line in lines))
    models = ("--models", "p", "b", "--label", "y", "--metric", "neg_log_loss")
    line = refused("compare", file, *models)
    assert line.startswith("Model 'b' must give probabilities: ")
    assert line.endswith(" Rows are counted from 0 here.")


@pytest.mark.parametrize("value", ["-", "new/"])
def test_output_is_a_file(refused, file, value):
    assert refused("compare", file, *QUESTION, "--output", value) == (
        f"--output must name a file, got {value!r}. What is written to standard output needs no "
        "option."
    )


def test_a_metric_has_one_name_and_one_margin(refused, file):
    label = ("--label", "id", "--require", "not-worse", "--metric", "neg_max_error")
    assert refused(
        "gate", file, *QUESTION, *label, "--margin", "max_error=0.1", "neg_max_error=9"
    ).startswith("--margin must be one number, or METRIC=NUMBER once for each metric")
    assert refused("gate", file, *QUESTION, *label, "neg_max_error") == (
        "--metric must name each metric once, got 'neg_max_error' twice."
    )


def test_a_gate_that_can_never_open_is_refused(refused, file):
    assert refused("gate", file, *QUESTION, "--require", "better", "--alternative", "worse") == (
        "--require better must not come with the alternative 'worse', which asks only whether a "
        "model is worse, and never shows that it is better."
    )


@pytest.mark.parametrize("mark", "=+-@\uff1d\uff0b\uff0d\uff20")
def test_marks_of_formulas_get_an_apostrophe(mark):
    assert output.neutral(f"{mark}1") == f"'{mark}1"


def test_remedies_are_options(refused, tmp_path, file):
    path = tmp_path / "many.jsonl"
    path.write_text(LINES * 4, encoding="utf-8")
    question = ("--label", "id", "--models", "a", "b", "--metric", "r2", "--resamples", "exact")
    line = refused("compare", path, *question)
    assert line.endswith("Pass an integer such as --resamples 9999.")
    assert refused("compare", file, *QUESTION, "--margin", "1", "--margin-relative", "0.1") == (
        "--margin must be left out where --margin-relative is given, got 1.0 and 0.1. Give one of "
        "them."
    )


def test_an_interrupted_program_leaves_no_traceback(file):
    code = (
        # A program that is started in the background may inherit that interrupts are ignored.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from sklearn_pairboot import cli; "
        "cli.compare = lambda options: signal.raise_signal(signal.SIGINT); "
        f"raise SystemExit(cli.main(['compare', {str(file)!r}, '--models', 'a', 'b']))"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (2, "sklearn-pairboot: error: Interrupted.\n")
