"""The repository keeps the rules of shape.py, and each rule catches what it is for."""

from pathlib import Path

import pytest

from tests.contract import shape

ROOT = Path(__file__).resolve().parents[2]
USERS = "src/retinue/users/service.py"
TEST = "tests/users/test_login.py"

PLANTED = [
    ("file-length", USERS, "x = 1\n" * 401),
    ("file-length", TEST, "x = 1\n" * 401),
    ("file-length", "src/retinue/kit/limits/spend.lua", "local x = 1\n" * 401),
    ("function-length", USERS, "def create():\n" + "    x = 1\n" * 60),
    ("function-length", USERS, "class A:\n    async def create(self):\n" + "        x = 1\n" * 60),
    ("module-name", "src/retinue/users/utils.py", ""),
    ("module-name", "src/retinue/users/_helpers.py", ""),
    ("module-name", "src/retinue/common/names.py", ""),
    ("module-name", "src/retinue/kit/misc.py", ""),
    ("module-name", "src/retinue/users/manager.py", ""),
    ("module-name", "src/retinue/users/handlers.py", ""),
    ("module-name", "tests/users/helpers.py", ""),
    ("dynamic-code", USERS, "eval('1')\n"),
    ("dynamic-code", USERS, "run = exec\n"),
    ("dynamic-code", USERS, "compile('1', '', 'eval')\n"),
    ("dynamic-code", USERS, "import builtins\nbuiltins.eval('1')\n"),
    ("pickle", USERS, "import pickle\n"),
    ("pickle", USERS, "def load():\n    from pickle import loads\n"),
    ("unsafe-yaml", USERS, "import yaml\nyaml.load('')\n"),
    ("unsafe-yaml", USERS, "from yaml import unsafe_load\n"),
    ("shell", USERS, "import os\nos.system('ls')\n"),
    ("shell", USERS, "import subprocess\nsubprocess.run('ls', shell=True)\n"),
    ("shell", USERS, "import subprocess\nsubprocess.run('ls', shell=chosen)\n"),
    ("clock", USERS, "import time\ntime.time()\n"),
    ("clock", USERS, "from time import time as seconds\nseconds()\n"),
    ("clock", USERS, "from datetime import datetime\ndatetime.now()\n"),
    ("clock", USERS, "from datetime import datetime\ndefault = datetime.now\n"),
    ("clock", USERS, "import datetime as dt\ndt.datetime.utcnow()\n"),
    ("clock", USERS, "from datetime import date\ndate.today()\n"),
    ("egress", USERS, "import aiohttp\n"),
    ("egress", USERS, "from httpx import AsyncClient\n"),
    ("egress", USERS, "import requests\n"),
    ("egress", USERS, "import urllib.request\n"),
    ("egress", USERS, "from urllib import request\n"),
    ("egress", USERS, "import socket\nsocket.create_connection(('h', 1))\n"),
    ("egress", "src/retinue/kit/egress_more.py", "import aiohttp\n"),
    ("database-engine", USERS, "from sqlalchemy import create_engine\n"),
    ("database-engine", USERS, "from sqlalchemy.ext.asyncio import create_async_engine\n"),
    ("text-sql", USERS, "from sqlalchemy import text\nquery = text('select 1')\n"),
    ("text-sql", USERS, "import sqlalchemy as sa\nquery = sa.text('select 1')\n"),
    ("text-sql", USERS, "async def f(db):\n    await db.execute('select 1')\n"),
    ("text-sql", USERS, "async def f(db, name):\n    await db.fetch(f'select {name}')\n"),
    ("open-end", USERS, "x = 1  # TODO: finish\n"),
    ("open-end", TEST, "# FIXME\n"),
    ("open-end", USERS, '"""XXX: think again."""\n'),
    ("unfinished", USERS, "def f():\n    raise NotImplementedError\n"),
    ("unfinished", TEST, "def f():\n    raise NotImplementedError('later')\n"),
    ("skip-reason", TEST, "import pytest\n\n@pytest.mark.skip\ndef test_x(): ...\n"),
    ("skip-reason", TEST, "import pytest\n\n@pytest.mark.skip()\ndef test_x(): ...\n"),
    ("skip-reason", TEST, "import pytest\n\n@pytest.mark.skipif(True)\ndef test_x(): ...\n"),
    ("skip-reason", TEST, "from pytest import mark\n\n@mark.xfail(strict=True)\ndef test_x(): ...\n"),
    ("skip-reason", TEST, "import pytest\npytest.skip()\n"),
    ("skip-reason", TEST, "import pytest\npytest.skip('')\n"),
    ("test-asserts", TEST, "def test_x():\n" + "    assert x\n" * 10),
    ("test-asserts", TEST, "async def test_x():\n    for x in y:\n" + "        assert x\n" * 10),
    ("test-import", TEST, "from tests.users.test_names import NAMES\n"),
    ("test-import", TEST, "from tests.users import test_names\n"),
    ("unused-import", USERS, "import retinue.users.jobs  # noqa: F401\n"),
    ("unused-import", TEST, "from tests.users import registered  # noqa: F401  declares it\n"),
]

ALLOWED = [
    ("src/retinue/kit/clock.py", "import time\ntime.time()\n"),
    ("src/retinue/kit/egress.py", "import aiohttp\n"),
    ("src/retinue/kit/egress/client.py", "import aiohttp\n"),
    (
        "src/retinue/kit/db/postgres.py",
        "from sqlalchemy import text\nfrom sqlalchemy import create_engine\n",
    ),
    ("src/retinue/kit/jobs/queue.py", "from sqlalchemy import text\n"),
    ("src/retinue/kit/events/log.py", "async def f(db):\n    await db.execute('select 1')\n"),
    ("src/retinue/migrations/versions/0001_first.py", "import sqlalchemy as sa\nsa.text('now')\n"),
    (USERS, "x = 1\n" * 400),
    (USERS, "def create():\n" + "    x = 1\n" * 59),
    (USERS, "import re\nre.compile('a')\n\ndef f(statement):\n    return statement.compile()\n"),
    (USERS, "import subprocess\nsubprocess.run(['ls'], shell=False)\n"),
    (USERS, "from retinue.kit import clock\n\ndef f(clock):\n    return clock.time(), clock.now()\n"),
    (USERS, "from sqlalchemy.dialects.postgresql import insert\n"),
    (USERS, "import yaml\nyaml.safe_load('')\n"),
    (USERS, "from sqlalchemy import select\n\nasync def f(db, t):\n    await db.execute(select(t))\n"),
    (USERS, "def f():\n    try:\n        g()\n    except NotImplementedError:\n        pass\n"),
    (TEST, "import time, httpx\ntime.time()\nnote = 'TODO list'\n" + "def test_x():\n" + "    x = 1\n" * 90),
    (TEST, "import pytest\n\n@pytest.mark.skipif(True, reason='no Redis here')\ndef test_x(): ...\n"),
    (TEST, "import pytest\npytest.skip('no Redis here')\n"),
    (TEST, "def test_x():\n" + "    assert x\n" * 9 + "\n\ndef check(x):\n" + "    assert x\n" * 10),
]


def plant(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True)
    file.write_text(text)


@pytest.fixture(scope="module")
def found() -> list[shape.Violation]:
    return shape.violations(ROOT)


def test_the_repository_keeps_every_rule(found: list[shape.Violation]) -> None:
    assert not found, "\n" + "\n".join(map(str, found))


def test_the_repository_is_really_read() -> None:
    files = {file.relative_to(ROOT).as_posix() for file in shape._files(ROOT)}
    assert {"src/retinue/kit/clock.py", "tests/contract/shape.py"} <= files


@pytest.mark.parametrize(("rule", "path", "text"), PLANTED)
def test_a_planted_violation_is_caught(tmp_path: Path, rule: str, path: str, text: str) -> None:
    plant(tmp_path, path, text)
    assert {violation.rule for violation in shape.violations(tmp_path)} == {rule}


@pytest.mark.parametrize(("path", "text"), ALLOWED)
def test_what_the_rules_allow_is_not_reported(tmp_path: Path, path: str, text: str) -> None:
    plant(tmp_path, path, text)
    assert shape.violations(tmp_path) == []


def test_every_rule_has_a_planted_violation() -> None:
    assert {rule for rule, _, _ in PLANTED} == shape.RULES
