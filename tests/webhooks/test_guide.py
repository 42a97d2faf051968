"""The verifiers that the guide gives do their work."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "webhooks.md"
NODE = shutil.which("node")


def program(language: str) -> str:
    (source,) = re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return str(source)


def in_python(secret: str, headers: dict[str, str], body: bytes, now: float) -> bool:
    scope: dict[str, Any] = {}
    exec(program("python"), scope)
    named = {name.title(): value for name, value in headers.items()}
    return bool(scope["is_genuine"](secret, named, body, now))


def in_javascript(secret: str, headers: dict[str, str], body: bytes, now: float) -> bool:
    if NODE is None:
        pytest.skip("Node is not installed; the verifier in JavaScript is not run")
    given = {"secret": secret, "headers": headers, "body": body.hex(), "now": now}
    asked = (
        'const g = JSON.parse(require("node:fs").readFileSync(0, "utf8"));'
        'console.log(isGenuine(g.secret, g.headers, Buffer.from(g.body, "hex"), g.now));'
    )
    done = subprocess.run(
        [NODE, "-e", f"{program('javascript')}\n{asked}"],
        input=json.dumps(given), capture_output=True, check=True, text=True, timeout=60,
    )  # fmt: skip
    return done.stdout.strip() == "true"


@pytest.mark.either_database
@pytest.mark.parametrize("verify", [in_python, in_javascript])
async def test_the_verifiers_of_the_guide_take_what_is_genuine_and_nothing_else(hooks, receiver, verify):
    made = await hooks.make()
    await hooks.happen(data={"note": 'Zoë ☃ \\ " 1e400'})
    await hooks.work()
    got = receiver.last
    at = int(got.headers["x-service-timestamp"])
    assert verify(made["secret"], got.headers, got.body, at)
    assert verify(made["secret"], got.headers, got.body, at + 299)
    assert not verify(made["secret"], got.headers, got.body, at + 301)
    assert not verify(made["secret"], got.headers, got.body, at - 301)
    assert not verify(made["secret"], got.headers, got.body + b" ", at)
    assert not verify(made["secret"] + "x", got.headers, got.body, at)
    assert not verify(made["secret"], {**got.headers, "x-service-timestamp": str(at + 1)}, got.body, at)
    assert not verify(made["secret"], {**got.headers, "x-service-signature": "sha256=é"}, got.body, at)
