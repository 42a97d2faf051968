"""The shell sessions that the documentation prints: each command, and the answer shown below it."""

import functools
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.processes import ROOT

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
README = ROOT / "README.md"
PROMPT = "$ "
NOT_RUN = "# not run by the tests: "
TYPED = re.compile(r"(\w+)=(\S+) +# type .+")
_FENCE = re.compile(r"```(\w*)\n")
_ANY_COMMAND = re.compile(r"\s*(\$ |curl |sudo |export \w+=|retinue \w)")


@dataclass(frozen=True)
class Step:
    """One command of a page with what is printed below it."""

    page: Path
    line: int
    section: str
    command: str
    printed: str
    not_run: str = ""
    """Why the tests do not run it."""

    @property
    def typed_name(self) -> str:
        """The variable whose value the reader types in, if this is such a line."""
        found = TYPED.fullmatch(self.command)
        return found[1] if found else ""

    @property
    def is_look(self) -> bool:
        """True if the command only reads, so that a reader may repeat it until the server is done."""
        changes = (" -X", " -d", " -F", " --json", " -T")
        is_changing = any(option in self.command for option in changes) and " -sG" not in self.command
        return self.command.startswith("curl ") and not is_changing

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@functools.cache
def steps_of(page: Path) -> list[Step]:
    """Every command of the `console` blocks of a page, in order."""
    found: list[Step] = []
    section, block, start = "", None, 0
    for number, line in enumerate(page.read_text().split("\n"), start=1):
        if block is not None:
            if line == "```":
                found += _block_steps(page, start, section, block)
                block = None
            else:
                block.append(line)
        elif line == "```console":
            block, start = [], number + 1
        elif line.startswith("#"):
            section = line.lstrip("# ")
    return found


def _block_steps(page: Path, start: int, section: str, lines: list[str]) -> list[Step]:
    not_run = lines[0].removeprefix(NOT_RUN) if lines[0].startswith(NOT_RUN) else ""
    steps: list[Step] = []
    at = 1 if not_run else 0
    while at < len(lines):
        begun = at
        assert lines[at].startswith(PROMPT), (
            f"{page.name}:{start + at} begins with neither `$ ` nor an answer"
        )
        command = lines[at].removeprefix(PROMPT)
        at += 1
        while not _is_complete(command):
            command += "\n" + lines[at]
            at += 1
        printed = []
        while at < len(lines) and not lines[at].startswith(PROMPT):
            printed.append(lines[at])
            at += 1
        steps.append(Step(page, start + begun, section, command, "\n".join(printed).strip(), not_run))
    return steps


def _is_complete(command: str) -> bool:
    """Return whether a shell would run it now rather than wait for another line."""
    if command.endswith("\\"):
        return False
    read = subprocess.run(["bash", "-n"], input=command + "\n", capture_output=True, text=True, check=False)
    return "unexpected EOF" not in read.stderr and "here-document" not in read.stderr


def commands_outside_sessions(page: Path) -> list[str]:
    """Lines of code that look like a command and stand where nothing runs them."""
    found, language = [], None
    for number, line in enumerate(page.read_text().split("\n"), start=1):
        if line.startswith("```"):
            language = (line[3:] or "text") if language is None else None
            continue
        is_code = line.startswith("    ") if language is None else language != "console"
        if is_code and _ANY_COMMAND.match(line):
            found.append(f"{page.name}:{number}: {line.strip()}")
    return found
