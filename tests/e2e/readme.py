"""The commands of the README's first minute, as a reader would type them."""

import json
import re
import shlex
from dataclasses import dataclass, replace
from typing import Any

from tests.e2e.processes import ROOT

_BASE = "$BASE"
_KEY = re.compile(r'"(\w+)":')


@dataclass
class Curl:
    """One call as the README shows it, with the keys of the answer it shows below."""

    method: str
    path: str
    body: Any
    with_token: bool
    shown_keys: set[str]
    upload: tuple[str, str] | None = None
    """The field of a file and its name."""

    def body_with(self, **values: str) -> Any:
        assert values.keys() <= self.body.keys()
        return {**self.body, **values}

    def about(self, ids: dict[str, str]) -> "Curl":
        """The same with the ids that the reader was told in the place of those the README leaves out."""

        def told(text: str) -> str:
            return re.sub(r"([a-z]+)_…", lambda found: ids[found[1]], text)

        body = json.loads(told(json.dumps(self.body, ensure_ascii=False)))
        return replace(self, path=told(self.path), body=body)


def first_minute() -> list[Curl]:
    text = (ROOT / "README.md").read_text()
    section = text.partition("## 60 seconds")[2].partition("\n## ")[0].replace("\\\n", " ")
    lines = [
        line
        for block in re.findall(r"```console\n(.*?)```", section, re.DOTALL)
        for line in block.split("\n")
    ]
    found = []
    for number, line in enumerate(lines):
        if "curl " in line:
            shown = next((below for below in lines[number + 1 : number + 2] if below.startswith("{")), "")
            found.append(_curl(line, shown))
    return found


def _curl(line: str, shown: str) -> Curl:
    command = line[line.index("curl ") :].partition(" | ")[0]
    words = shlex.split(command.rstrip(")"))
    (url,) = (word for word in words if word.startswith(_BASE))
    body = json.loads(words[words.index("-d") + 1]) if "-d" in words else None
    upload = tuple(words[words.index("-F") + 1].split("=@")) if "-F" in words else None
    is_post = body is not None or upload is not None
    method = words[words.index("-X") + 1] if "-X" in words else ("POST" if is_post else "GET")
    return Curl(
        method,
        url.removeprefix(_BASE),
        body,
        "Authorization: Bearer $TOKEN" in words,
        set(_KEY.findall(shown)),
        upload,
    )
