"""Runs the long forms of the tests and writes what they showed into docs/reference/campaign.md.

`scripts/campaign.py` runs every part; `scripts/campaign.py kills fuzz` runs these and keeps the other rows.
"""

import datetime as dt
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/campaign.md"
SLOW = ("-m", "slow", "-n", "0")
POSTGRESQL = os.environ.get("RETINUE_TEST_DATABASE_URL", "postgresql://root@127.0.0.1:5432/test")

HEAD = """\
# Campaign

The long forms of the tests, written by `make campaign`: what `make test` has no time for. Each row says when
and at which commit a part last ran. A test fails when that is more than 50 commits ago, or more
than 14 days where the history does not contain the commit.

| Part | What it does | Result | Time | Date | Commit |
|---|---|---|--:|---|---|
"""


@dataclass(frozen=True)
class Part:
    name: str
    about: str
    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


CRASHES = (
    *(
        f"tests/e2e/test_{name}_crash.py"
        for name in ("chat", "compaction", "form", "form_talk", "training", "workflow", "waiting", "webhook")
    ),
    "tests/e2e/test_webhook_repeats.py",
    "tests/e2e/test_dropped_streams.py",
)
"""`make test` keeps the kills of tests/e2e/test_crash.py only."""
BROWSER = "tests/browser"
PAGES = ("tests/e2e/test_pages.py", "tests/e2e/test_two_commands.py")
FUZZ = "tests/contract/test_openapi_fuzz.py"
KILLS = "tests/e2e/test_crash.py"
PHOENIX = "tests/e2e/test_phoenix.py"
LANGCHAIN = "tests/e2e/test_langchain.py"
BACKUPS = "tests/e2e/test_backup_load.py"
PROCESSES = "tests/e2e/test_supervised.py"
IMAGE = "tests/deploy/test_image.py"
CASES = (
    *("tests", "-m", "campaign and not slow", "-n", "2", "--ignore=tests/browser"),
    *(f"--ignore={file}" for file in CRASHES),
)
PARTS = (
    Part(
        "kills",
        "200 kills of the server under load; nothing acknowledged is lost, nothing happens twice",
        (KILLS, "-n", "0"),
        (("RETINUE_TEST_KILLS", "200"),),
    ),
    Part(
        "crashes",
        "kills during chats, forms, training, workflows and deliveries; clients that drop their streams",
        (*CRASHES, "-n", "0"),
    ),
    Part(
        "fuzz",
        "every operation with generated input, valid and hostile",
        (FUZZ, "-m", "slow", "-n", "2"),
    ),
    Part(
        "browser",
        "every screen and page in a browser: light, dark, phones, axe, keyboard, faults",
        (BROWSER, "-m", "not slow", "-n", "2"),
    ),
    Part(
        "screens",
        "the longest tests in a browser: every screen as every role, large pages, forms against their schema",
        (BROWSER, "-m", "slow", "-n", "2"),
    ),
    Part(
        "hostile",
        "corpora against the sandbox, the SSRF guard, the SQL guard and the readers of files",
        (
            "tests/adapters",
            "tests/kit",
            "tests/tools",
            "-k",
            "campaign or sandbox or egress or corpus or hostile",
            "-n",
            "2",
        ),
    ),
    Part(
        "pages",
        "every command of the README and the guides, in a shell",
        (*PAGES, *SLOW),
    ),
    Part(
        "phoenix",
        "a traced turn in Arize Phoenix, which is killed in between like the worker",
        (PHOENIX, *SLOW),
    ),
    Part(
        "langchain",
        "structured output with LangChain's own client, in every way that it can ask",
        (LANGCHAIN, *SLOW),
    ),
    Part(
        "backups",
        "20 backups at 200 writes a second, each restored and compared with what was acknowledged",
        (BACKUPS, *SLOW),
        (("RETINUE_TEST_BACKUPS", "20"),),
    ),
    Part(
        "dumps",
        "the same on PostgreSQL",
        (BACKUPS, *SLOW),
        (("RETINUE_TEST_BACKUPS", "20"), ("RETINUE_TEST_DATABASE_URL", POSTGRESQL)),
    ),
    Part(
        "processes",
        "several processes of one server: 50 kills and 20 reloads under load",
        (PROCESSES, *SLOW),
    ),
    Part(
        "processespg",
        "the same on PostgreSQL",
        (PROCESSES, *SLOW),
        (("RETINUE_TEST_DATABASE_URL", POSTGRESQL), ("RETINUE_TEST_ONLY_DATABASE", "1")),
    ),
    Part(
        "image",
        "the image in both targets, built without Docker, until its server is ready",
        (IMAGE, *SLOW),
    ),
    Part(
        "cases",
        "the cases of long tables, and the tests that start many processes, which `make test` leaves out",
        CASES,
    ),
    Part(
        "casespg",
        "those of them that may differ on PostgreSQL, there",
        CASES,
        (("RETINUE_TEST_DATABASE_URL", POSTGRESQL), ("RETINUE_TEST_ONLY_DATABASE", "1")),
    ),
    Part(
        "services",
        "every test that may differ on PostgreSQL, with three services that share a Redis",
        (
            *("tests", "-m", "not slow and not campaign", "-n", "2"),
            *("--ignore", "tests/e2e", "--ignore", "tests/browser"),
        ),
        (
            ("RETINUE_TEST_DATABASE_URL", POSTGRESQL),
            ("RETINUE_TEST_ONLY_DATABASE", "1"),
            ("RETINUE_TEST_SERVICES", "3"),
        ),
    ),
    Part(
        "pgbouncer",
        "the tests that may differ on PostgreSQL, behind PgBouncer with fewer sessions than connections",
        ("tests", "-m", "not slow and not campaign", "-n", "2", "--ignore", "tests/browser"),
        (
            ("RETINUE_TEST_DATABASE_URL", POSTGRESQL),
            ("RETINUE_TEST_ONLY_DATABASE", "1"),
            ("RETINUE_TEST_PGBOUNCER", "1"),
        ),
    ),
    Part(
        "slow",
        "everything else that is marked slow: large tables, weights, soak tests",
        (
            *("-m", "slow", "-n", "2"),
            *(
                f"--ignore={file}"
                for file in (
                    *(BROWSER, KILLS, PHOENIX, LANGCHAIN, BACKUPS, IMAGE, PROCESSES, FUZZ),
                    *(*CRASHES, *PAGES),
                )
            ),
        ),
    ),
)


def main() -> None:
    wanted = set(sys.argv[1:]) or {part.name for part in PARTS}
    unknown = wanted - {part.name for part in PARTS}
    if unknown:
        sys.exit(f"unknown parts: {', '.join(sorted(unknown))}")
    rows = read_rows()
    has_failed = False
    for part in PARTS:
        if part.name in wanted:
            rows[part.name], is_ok = run(part)
            has_failed = has_failed or not is_ok
            write_rows(rows)
    sys.exit(has_failed)


def run(part: Part) -> tuple[str, bool]:
    print(f"== {part.name}: {part.about}", flush=True)
    started = time.monotonic()
    output, is_ok = show_tests(part)
    minutes = (time.monotonic() - started) / 60
    result = counts(output)
    commit = git("rev-parse", "--short=10", "HEAD")
    today = dt.datetime.now(dt.UTC).date().isoformat()
    # A part that only skipped has shown nothing.
    is_ok = is_ok and "passed" in result
    text = result if is_ok else f"**failed**: {result}"
    return f"| {part.name} | {part.about} | {text} | {minutes:.1f} min | {today} | `{commit}` |", is_ok


def show_tests(part: Part) -> tuple[str, bool]:
    """Run them; each dot is shown as it comes, because a part can take half an hour."""
    with subprocess.Popen(  # noqa: S603  our own tests
        (sys.executable, "-m", "pytest", "-q", *part.arguments),
        cwd=ROOT,
        env={**os.environ, **dict(part.environment)},
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as tests:
        written = b""
        while tests.stdout and (more := tests.stdout.read(4_096)):
            sys.stdout.buffer.write(more)
            sys.stdout.buffer.flush()
            written += more
    return written.decode(errors="replace"), tests.returncode == 0


def counts(output: str) -> str:
    """The counts of pytest's summary; with `-q` and a quiet summary, the dots are counted."""
    found = re.findall(
        r"\d+ (?:passed|failed|errors?|skipped|xfailed)", output.splitlines()[-1] if output else ""
    )
    if found:
        return ", ".join(found)
    marks = "".join(re.findall(r"^[.sFExX]+(?= +\[ *\d+%\]|$)", output, re.MULTILINE))
    names = {".": "passed", "F": "failed", "E": "errors", "s": "skipped"}
    return (
        ", ".join(f"{marks.count(mark)} {name}" for mark, name in names.items() if mark in marks) or "no test"
    )


def read_rows() -> dict[str, str]:
    if not PAGE.exists():
        return {}
    lines = [line for line in PAGE.read_text().splitlines() if re.match(r"\| [a-z]+ \|", line)]
    return {line.split("|")[1].strip(): line for line in lines}


def write_rows(rows: dict[str, str]) -> None:
    PAGE.write_text(HEAD + "\n".join(rows[part.name] for part in PARTS if part.name in rows) + "\n")


def git(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  our own repository
        (shutil.which("git") or "git", *arguments), cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
