"""The demo and its data."""

import csv
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.newest
def test_demo_shows_how_clusters_change_the_answer(capsys):
    pytest.importorskip("pandas")
    load("demo").main()
    out, err = capsys.readouterr()
    assert err == ""
    real, clusters = out.split("2. ROWS IN CLUSTERS")
    by_row, by_patient = clusters.split("Now whole patients are drawn")
    assert "Paired bootstrap of 2 models on 228 test rows\n" in real
    assert "log_loss (lower is better)\n    logistic" in real
    assert "SIMULATED" in by_row
    verdicts = [
        re.findall(r"^    new .* (\w+)$", part, flags=re.MULTILINE) for part in (by_row, by_patient)
    ]
    assert verdicts == [["better", "better"], ["inconclusive", "inconclusive"]]
    commands = re.findall(r"^\$ (.*)\n +(.*)$", clusters, flags=re.MULTILINE)
    assert [second.endswith("--groups patient") for _, second in commands] == [False, True]
    assert len(out.splitlines()) < 130


@pytest.mark.newest
def test_file_is_what_the_script_writes(tmp_path):
    script = load("make_clustered_data")
    script.write(tmp_path / "photos.csv")
    assert (tmp_path / "photos.csv").read_bytes() == script.FILE.read_bytes()


def test_file_holds_what_the_demo_says():
    with (EXAMPLES / "data" / "photos.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    patients = {row["patient"] for row in rows}
    assert (len(rows), len(patients)) == (517, 40)
    # A patient has one diagnosis, and each model misjudges all photographs of a patient alike.
    assert len({(row["patient"], row["malignant"]) for row in rows}) == 40
    for model in ("old", "new"):
        answers = {p: [float(r[model]) for r in rows if r["patient"] == p] for p in patients}
        within = np.mean([np.var(values) for values in answers.values()])
        assert within < np.var([float(row[model]) for row in rows]) / 4
