"""The release gate: what passes, what fails, and what it says and writes."""

import contextlib
import html
import io
import json
import re

import numpy as np
import pytest

from sklearn_pairboot import ComparisonResult, cli, compare_predictions, compare_scores

FAST = ("--resamples", "499")
N = 200


@pytest.fixture
def run():
    """Run the command line; give exit status, lines of standard output, and standard error."""

    def run(*arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = cli.main([str(argument) for argument in arguments])
            except SystemExit as stop:
                status = stop.code
        return status, out.getvalue().splitlines(), err.getvalue()

    return run


@pytest.fixture(scope="module")
def data():
    """Four models: one much better than the old, one like it, one much worse."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    wrong = {
        "old": rng.random(N) < 0.3,
        "good": rng.random(N) < 0.02,
        "bad": rng.random(N) < 0.6,
    }
    wrong["same"] = wrong["old"].copy()
    wrong["same"][:2] = ~wrong["same"][:2]
    return {"y": y, **{name: np.where(mask, 1 - y, y) for name, mask in wrong.items()}}


@pytest.fixture
def file(tmp_path, data):
    pytest.importorskip("pandas")
    rows = zip(*data.values(), strict=True)
    lines = [",".join(map(str, row)) for row in (data, *rows)]
    path = tmp_path / "test.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def question(*models, metrics=("accuracy",)):
    return ("--label", "y", "--models", "old", *models, "--metric", *metrics, *FAST)


MARGIN = ("--margin", "0.05")


@pytest.mark.parametrize(
    ("model", "require", "more", "status"),
    [
        ("good", "better", (), 0),
        ("good", "not-worse", MARGIN, 0),
        ("good", "equivalent", MARGIN, 1),
        ("same", "better", (), 1),
        ("same", "not-worse", MARGIN, 0),
        ("same", "equivalent", MARGIN, 0),
        ("bad", "better", (), 1),
        ("bad", "not-worse", MARGIN, 1),
        ("bad", "equivalent", MARGIN, 1),
        ("good", "better", MARGIN, 0),
        # Better, and by less than matters: the verdict is "equivalent".
        ("good", "better", ("--margin", "0.9"), 1),
        ("good", "equivalent", ("--margin-relative", "0.9"), 0),
    ],
)
def test_exit_status(run, file, model, require, more, status):
    found, lines, err = run("gate", file, *question(model), "--require", require, *more)
    assert (found, err) == (status, "")
    (line,) = lines
    assert line.startswith("FAIL: " if status else "PASS: ")


def test_the_line_says_what_the_decision_rests_on(run, file, data):
    _, (line,), _ = run(
        "gate", file, *question("good"), "--require", "not-worse", "--margin", "0.05"
    )
    (row,) = compare_predictions(
        data["y"], {name: data[name] for name in ("old", "good")}, scoring="accuracy",
        margin=0.05, n_resamples=499, random_state=0,
    ).differences  # fmt: skip
    numbers = (
        f"difference {row.difference:+.3f}, 90 % interval "
        f"[{row.equivalence_low:.3f}, {row.equivalence_high:.3f}], margin 0.050, "
        f"p = {row.p_not_worse:.4f}"
    )
    assert line == (
        "PASS: good is not worse than old by 0.050 or more on accuracy (higher is better): "
        f"{numbers}, verdict better; 200 rows."
    )
    _, (line,), _ = run("gate", file, *question("bad"), "--require", "better")
    (row,) = compare_predictions(
        data["y"], {name: data[name] for name in ("old", "bad")}, scoring="accuracy",
        n_resamples=499, random_state=0,
    ).differences  # fmt: skip
    assert line == (
        "FAIL: bad is not shown to be better than old on accuracy (higher is better): difference "
        f"{row.difference:.3f}, 95 % interval [{row.ci_low:.3f}, {row.ci_high:.3f}], "
        f"p = {row.p_value:.4f}, verdict worse; 200 rows."
    )


def test_losses_pass_when_they_are_lower_req_A02(run, tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "latency.csv"
    path.write_text("old,new\n" + "3,2\n4,3.5\n5,4\n4.5,3.5\n" * 5, encoding="utf-8")
    models = ("--models", "old", "new", *FAST, "--require")
    assert run("gate", path, *models, "better")[0] == 1
    status, (line,), _ = run("gate", path, *models, "better", "--lower-is-better")
    assert status == 0
    assert "(lower is better): difference -0.875" in line
    status, _, _ = run("gate", path, *models, "not-worse", "--margin", "0.1", "--lower-is-better")
    assert status == 0
    assert run("gate", path, *models, "not-worse", "--margin", "0.1")[0] == 1


def test_few_rows_close_the_gate(run, tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "few.csv"
    path.write_text("old,new\n0,1\n0,1\n0,1\n", encoding="utf-8")
    status, (line,), _ = run("gate", path, "--models", "old", "new", "--require", "better", *FAST)
    assert status == 1
    assert line.endswith(
        "verdict inconclusive (status degenerate: every resample gives this "
        "difference, which says nothing about unseen rows); 3 rows."
    )


def test_all_models_must_pass_or_the_one_that_is_named(run, file):
    arguments = ("gate", file, *question("good", "same"), "--require", "better")
    status, lines, _ = run(*arguments)
    assert status == 1
    assert [line[:10] for line in lines] == ["PASS: good", "FAIL: same", "FAIL: 1 of"]
    assert lines[-1] == "FAIL: 1 of 2 comparisons hold, and the gate asks for all."
    assert run(*arguments, "--gate-model", "good")[0] == 0
    assert run(*arguments, "--gate-model", "same")[0] == 1


def test_naming_a_model_keeps_the_correction(run, file, data):
    """Who names one model of three is still judged by the p-value adjusted for all three."""
    result = compare_predictions(
        data["y"], {name: data[name] for name in ("old", "good", "same", "bad")},
        scoring="accuracy", n_resamples=499, random_state=0,
    )  # fmt: skip
    (row,) = (row for row in result.differences if row.model == "good")
    assert row.p_adjusted > row.p_value
    arguments = ("gate", file, *question("good", "same", "bad"), "--require", "better")
    _, (line,), _ = run(*arguments, "--gate-model", "good")
    assert f"p = {row.p_value:.4f}, adjusted {row.p_adjusted:.4f}, " in line
    _, (line,), _ = run(*arguments, "--gate-model", "good", "--correction", "none")
    assert "adjusted" not in line


def test_all_metrics_must_pass_or_the_one_that_is_named(run, file):
    metrics = ("accuracy", "f1")
    arguments = ("gate", file, *question("same", metrics=metrics), "--require", "not-worse")
    wide_and_narrow = ("--margin", "accuracy=0.05", "f1=0.0001")
    status, lines, _ = run(*arguments, *wide_and_narrow)
    assert (status, len(lines)) == (1, 3)
    assert run(*arguments, *wide_and_narrow, "--gate-metric", "accuracy")[0] == 0
    assert run(*arguments, *wide_and_narrow, "--gate-metric", "f1")[0] == 1
    assert run(*arguments, "--margin", "accuracy=0.05", "--gate-metric", "accuracy")[0] == 0


def test_metrics_may_be_named_as_scikit_learn_does(run, tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "test.csv"
    path.write_text("y,a,b\n" + "0,1.0,0.5\n1,2.0,1.2\n3,3.9,3.0\n" * 4, encoding="utf-8")
    arguments = ("gate", path, "--label", "y", "--models", "a", "b", "--metric",
                 "neg_mean_absolute_error", "r2", "--require", "not-worse", *FAST)  # fmt: skip
    for name in ("neg_mean_absolute_error", "mean_absolute_error"):
        margin = ("--margin", f"{name}=0.1", "--gate-metric", name)
        status, (line,), _ = run(*arguments, *margin)
        assert status == 0
        assert "on mean_absolute_error (lower is better)" in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--require", "not-worse"),
            "--require not-worse needs --margin or --margin-relative for every metric that is "
            "judged, got none for 'accuracy'. A margin counts only if it was chosen before the "
            "data were seen.",
        ),
        (
            ("--require", "better", "--gate-model", "old"),
            "--gate-model must be among 'good', got 'old'.",
        ),
        (
            ("--require", "better", "--gate-metric", "f1"),
            "--gate-metric must be among 'accuracy', got 'f1'.",
        ),
        (
            ("--require", "better", "--format", "json"),
            "--format needs --output: a gate writes its lines to standard output.",
        ),
        (("--require", "same"), None),
        ((), None),
    ],
)
def test_bad_usage_is_no_failure_of_the_model(run, file, arguments, message):
    status, lines, err = run("gate", file, *question("good"), *arguments)
    assert (status, lines) == (2, [])
    assert err.count("\n") == 1
    assert message is None or err == f"sklearn-pairboot: error: {message}\n"


@pytest.mark.parametrize(("model", "status"), [("good", 0), ("bad", 1)])
def test_reader_that_has_gone_opens_no_gate(run, file, monkeypatch, model, status):
    def gone(text):
        raise BrokenPipeError

    monkeypatch.setattr(cli, "write_standard_output", gone)
    assert run("gate", file, *question(model), "--require", "better") == (status, [], "")


@pytest.mark.parametrize("error", [MemoryError(), ImportError("x needs matplotlib.")])
def test_what_is_lacking_is_no_verdict(run, file, monkeypatch, error):
    def lacking(options):
        raise error

    monkeypatch.setattr(cli, "compare", lacking)
    status, lines, err = run("gate", file, *question("good"), "--require", "better")
    assert (status, lines, err.count("\n")) == (2, [], 1)


def test_a_gate_needs_two_models(run, file):
    status, _, err = run("gate", file, *question(), "--require", "better")
    assert status == 2
    assert "gate needs two models or more" in err


def test_nothing_is_written_where_the_gate_cannot_judge(run, file, tmp_path):
    output = tmp_path / "gate.json"
    output.write_text("kept", encoding="utf-8")
    status, _, _ = run(
        "gate", file, *question("good"), "--require", "not-worse", "--output", output
    )
    assert (status, output.read_text(encoding="utf-8")) == (2, "kept")


@pytest.mark.parametrize(("model", "status"), [("good", 0), ("same", 1)])
def test_reports_beside_the_gate(run, file, tmp_path, model, status):
    as_json, page = tmp_path / "gate.json", tmp_path / "gate.md"
    found, lines, _ = run("gate", file, *question(model), "--require", "better",
                          "--output", as_json, "--output", page)  # fmt: skip
    assert found == status
    data = json.loads(as_json.read_text(encoding="utf-8"))
    assert data["gate"] == {"require": "better", "passed": status == 0, "reasons": lines}
    result = ComparisonResult.from_json(as_json.read_text(encoding="utf-8"))
    text = page.read_text(encoding="utf-8")
    decision, _, report = text.partition("\n\n")
    assert re.sub(r"\\(.)", r"\1", decision) == f"- {lines[0]}"
    assert report == result.to_markdown()


def test_html_beside_the_gate(run, file, tmp_path):
    page = tmp_path / "gate.html"
    assert run("gate", file, *question("good"), "--require", "better", "--output", page)[0] == 0
    assert "good" in html.unescape(page.read_text(encoding="utf-8"))


def test_a_stored_result_is_judged_as_the_table_was(run, file, tmp_path):
    stored = tmp_path / "result.json"
    arguments = (*question("good", "same"), "--margin", "0.05")
    assert run("compare", file, *arguments, "--output", stored)[0] == 0
    for require in ("better", "not-worse", "equivalent"):
        direct = run("gate", file, *arguments, "--require", require)
        assert run("gate", stored, "--require", require) == direct


def test_another_reading_of_a_stored_result_needs_its_resamples(run, file, tmp_path):
    short, long = tmp_path / "short.json", tmp_path / "long.json"
    run("compare", file, *question("same"), "--output", short)
    run("compare", file, *question("same"), "--output", long, "--replicates")
    other = ("--require", "not-worse", "--margin", "0.05", "--confidence-level", "0.9")
    status, _, err = run("gate", short, *other)
    assert status == 2
    assert err == (
        f"sklearn-pairboot: error: --confidence-level needs the resamples, which {short} does not "
        "hold. Compare with --replicates, or with that option.\n"
    )
    assert run("gate", long, *other) == run("gate", file, *question("same"), *other)


def test_questions_to_a_stored_result_are_refused(run, file, tmp_path):
    stored = tmp_path / "result.json"
    run("compare", file, *question("same"), "--output", stored)
    for option in (("--models", "a"), ("--seed", "1"), ("--lower-is-better",), ("--groups", "g")):
        status, _, err = run("gate", stored, "--require", "better", *option)
        assert status == 2
        assert err.startswith(f"sklearn-pairboot: error: {option[0]} must come with a table, got ")


def test_permutation_of_models_mirrors_the_gate(run, tmp_path):
    """What is better than the old one is worse the other way round."""
    pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    scores = {"a": rng.random(50), "b": rng.random(50) + 0.5}
    path = tmp_path / "test.csv"
    rows = zip(*scores.values(), strict=True)
    path.write_text("a,b\n" + "".join(f"{x},{z}\n" for x, z in rows), encoding="utf-8")
    assert (
        compare_scores(scores, n_resamples=499, random_state=0).differences[0].verdict == "better"
    )
    gate = ("gate", path, *FAST, "--require", "better", "--models")
    assert run(*gate, "a", "b")[0] == 0
    assert run(*gate, "b", "a")[0] == 1
    assert run(*gate, "a", "b", "--baseline", "b")[0] == 1


def test_every_example_of_the_manual_is_accepted():
    from sklearn_pairboot._cli import arguments, manual, usage

    for text, number in ((manual.GATE_EXAMPLES, 3), (manual.REPORT_EXAMPLES, 3)):
        joined = re.sub(r"\\\n +", "", text)
        commands = re.findall(r"^ +sklearn-pairboot (.*)$", joined, re.MULTILINE)
        assert len(commands) == number
        for command in commands:
            options = arguments.make_parser().parse_args(command.split())
            if not options.file.endswith(".json"):
                usage.check_usage(options)


def test_undefined_resamples_are_told(run, tmp_path):
    """Two positives of 12: a resample lacks them with probability (10/12)^12, about 11 %."""
    pytest.importorskip("pandas")
    y = [1, 1] + [0] * 10
    old, new = np.linspace(0.9, 0.1, 12).round(2), np.linspace(0.8, 0.2, 12).round(2)[::-1]
    path = tmp_path / "rare.csv"
    rows = "".join(f"{a},{b},{c}\n" for a, b, c in zip(y, old, new, strict=True))
    path.write_text("y,old,new\n" + rows, encoding="utf-8")
    arguments = ("--label", "y", "--models", "old", "new", "--metric", "roc_auc", *FAST)
    _, (line,), _ = run("gate", path, *arguments, "--require", "better")
    counts = re.search(r"undefined resamples left out: old (\d+), new (\d+) of 499; 12 rows", line)
    expected = 499 * (10 / 12) ** 12
    assert counts[1] == counts[2]
    assert abs(int(counts[1]) - expected) < 4 * np.sqrt(expected)


@pytest.mark.parametrize("require", ["not-worse", "equivalent"])
def test_req_A31_identical_answers_open_no_gate_and_the_line_says_why(run, tmp_path, require):
    pytest.importorskip("pandas")
    path = tmp_path / "same.csv"
    path.write_text("old,new\n" + "0,0\n1,1\n" * 50, encoding="utf-8")
    arguments = ("--models", "old", "new", *FAST, *MARGIN, "--require", require)
    status, (line,), _ = run("gate", path, *arguments)
    assert status == 1
    assert line.endswith(
        "verdict inconclusive (status degenerate: every resample gives this difference, which says "
        "nothing about unseen rows); 100 rows."
    )
