"""The page on the command line: its commands print what it says.

After a change of the report, ``python tests/test_cli_page.py --update`` writes the new output into
it; read the difference before you keep it.
"""

import contextlib
import importlib.util
import io
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from sklearn_pairboot import cli
from sklearn_pairboot._cli.arguments import make_parser

pytestmark = pytest.mark.newest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "doc" / "command_line.rst"
BLOCK = re.compile(r"(?<=\.\. code-block:: console\n\n)((?:   .*\n)+)")
COMMAND = re.compile(r"^   \$ (?:.*\\\n)*.*\n", flags=re.MULTILINE)


def run(command):
    """Run one command; give its exit status and what it prints, errors too."""
    program, *arguments = shlex.split(command.strip().removeprefix("$ ").replace("\\\n", " "))
    assert program == "sklearn-pairboot"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = cli.main(arguments)
    return status, printed.getvalue()


def with_real_output(text, folder):
    """Write what the commands print now into the text of the page."""
    status = None

    def block(found):
        nonlocal status
        lines = []
        for command in COMMAND.findall(found[1]):
            if command.strip() == "$ echo $?":
                printed = f"{status}\n"
            else:
                status, printed = run(command)
            lines += [command, *(f"   {line}\n" for line in printed.splitlines())]
        return "".join(lines)

    (folder / "examples").symlink_to(ROOT / "examples")
    with contextlib.chdir(folder):
        return BLOCK.sub(block, text)


@pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="pandas is not installed")
def test_commands_print_what_the_page_says(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    assert sum(len(COMMAND.findall(block)) for block in BLOCK.findall(text)) == 11
    assert with_real_output(text, tmp_path) == text


def test_page_names_options_that_exist():
    known = {"--help"}
    actions = [
        ["compare", "f", "--models", "a"],
        ["report", "f"],
        ["gate", "f", "--require", "better"],
    ]
    for arguments in actions:
        options = vars(make_parser().parse_args(arguments))
        known |= {f"--{option.replace('_', '-')}" for option in options}
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE.read_text(encoding="utf-8")))
    assert named - known == {"--update"}


def test_page_has_the_exit_statuses():
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("\nExit status\n")[2].partition("\nA release gate\n")[0]
    statuses = re.findall(r"^(\d) +\S", table, flags=re.MULTILINE)
    assert list(map(int, statuses)) == [cli.PASSED, cli.FAILED, cli.BAD_INPUT]


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit("usage: python tests/test_cli_page.py --update")
    with tempfile.TemporaryDirectory() as name:
        updated = with_real_output(PAGE.read_text(encoding="utf-8"), Path(name))
    PAGE.write_text(updated, encoding="utf-8")
