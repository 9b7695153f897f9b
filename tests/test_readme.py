"""The README: its examples print what it says, and it says what it must.

After a change of the report, ``python tests/test_readme.py --update`` writes the new output into
it; read the difference before you keep it.
"""

import contextlib
import importlib.util
import io
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import sklearn_pairboot
from sklearn_pairboot import cli

pytestmark = pytest.mark.newest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PYTHON = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", flags=re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```\n", flags=re.DOTALL)
COMMAND = re.compile(r"^\$ (?:.*\\\n)*.*\n", flags=re.MULTILINE)

# What the README must say, by the requirement that asks for it.
STATEMENTS = {
    "A02": "The direction is declared by the scorer (or by `greater_is_better=`), never guessed.",
    "A03": "percentage *points*, not 2.2 %",
    "A13": "That is not evidence that they are equal.",
    "A14 D23": 'It does not hold the truth "with 95 % probability".',
    "A17": "| a time point, like its neighbours | blocks of time | `resampling=BlockBootstrap()`;",
    "A19": "a cluster with many rows counts for more than one with few",
    "A22": "nor whether both models were scored on the right version of each item",
    "A26 D03": "The rows do not represent** the population you want to speak about",
    "A27 B19": "labels are unreliable, or data leaked. The bootstrap sees none of this",
    "A28": "another training seed, other training data or another split could change the answer",
    "A29": "**The test set was used before**",
    "A30": "That it runs with two clusters does not make it reliable.",
    "A31 B12": "a property of the rows observed, not proof that unseen rows agree",
    "A32 C21": "**Many slices or metrics were searched** for one that looks good.",
    "A33 D13 C20": "statistical significance is not practical importance",
    "B11": '"exact" is exact about resampling these rows, and promises nothing about other rows',
    "B13": "neither the probability that it is better nor a p-value",
    "B14": "Align first, then decide about items that failed.",
    "B15": "Rows that resemble each other are counted as separate pieces of information.",
    "B16": "repeats are not further items",
    "B17": "the mean of the F1 of documents is not the F1 of all rows",
    "B18": "an exact or Wilson interval is the better tool",
    "D05": "this is not a cluster bootstrap",
    "D18": "A wide one means few rows, or few clusters. One that is surprisingly narrow",
    "D20": "It may well be asymmetric",
    "D22": "The two answer different questions.",
    "E30": "how large a gain or loss the interval still allows",
}


def run_python(code, namespace):
    """Run a block of Python, and give what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(README), "exec"), namespace)
    return printed.getvalue()


def run_command(command):
    """Run one command of a console block, and give what it prints, errors too."""
    program, *arguments = shlex.split(command.removeprefix("$ ").replace("\\\n", " "))
    assert program == "sklearn-pairboot"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        cli.main(arguments)
    return printed.getvalue()


def with_real_output(text):
    """Write the output that blocks have now into the text of the README."""
    namespace = {}

    def python(found):
        output = run_python(found[1], namespace)
        return f"```python\n{found[1]}```\n" + (f"\n```text\n{output}```\n" if output else "")

    def console(found):
        commands = COMMAND.findall(found[1])
        return "```console\n" + "".join(c + run_command(c) for c in commands) + "```\n"

    with contextlib.chdir(ROOT):
        return CONSOLE.sub(console, PYTHON.sub(python, text))


@pytest.fixture(scope="module")
def readme():
    return README.read_text(encoding="utf-8")


@pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="pandas is not installed")
def test_examples_print_what_the_readme_says(readme):
    assert len(PYTHON.findall(readme)) == 2
    assert sum(len(COMMAND.findall(block)) for block in CONSOLE.findall(readme)) == 2
    assert with_real_output(readme) == readme


@pytest.mark.parametrize("ids", STATEMENTS, ids=lambda ids: "req_" + ids.replace(" ", "_"))
def test_readme_states(readme, ids):
    assert STATEMENTS[ids] in " ".join(readme.split())


def test_readme_names_the_two_commands_and_nothing_that_the_makefile_lacks(readme):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", readme, flags=re.MULTILINE)
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in targets)


def test_every_entry_in_the_table_exists(readme):
    table = readme.partition("## What there is")[2].partition("\n\nInputs")[0]
    named = re.findall(r"^\| `(\w+)", table, flags=re.MULTILINE)
    assert len(named) == 21
    assert [name for name in named if not exists(name)] == []


def exists(name):
    """Tell whether the package has a name or a module of that name."""
    return hasattr(sklearn_pairboot, name) or find_spec(f"sklearn_pairboot.{name}") is not None


def test_links_lead_to_files(readme):
    assert all((ROOT / link).is_file() for link in re.findall(r"\]\((?!http)([^)#]+)\)", readme))


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit("usage: python tests/test_readme.py --update")
    README.write_text(with_real_output(README.read_text(encoding="utf-8")), encoding="utf-8")
