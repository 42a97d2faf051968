"""Renders the Helm chart in deploy/helm/retinue without Helm, which few registries carry.

`scripts/chart.py [FILE …]` prints the manifests for the chart's values with those of the files over them.

The templates keep to a part of Helm's language, and anything else is an error here: fields and variables,
`if` with `else`, `range`, `define` and `include`, and the functions `toYaml`, `nindent`, `quote`, `default`
and `fail`. A value that the chart does not declare is an error too, where Helm would print nothing.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).resolve().parent.parent / "deploy" / "helm" / "retinue"
RELEASE = {"Name": "retinue", "Namespace": "default", "Service": "Helm"}

_ACTION = re.compile(r"\{\{(?P<left>-)?\s*(?P<code>.*?)\s*(?P<right>-)?\}\}", re.DOTALL)
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|\||:=|,|[^\s|,"]+')
_PATH = re.compile(r"(\$\w*)?(\.[A-Za-z]\w*)*\.?")


class ChartError(Exception):
    """A template uses something that is not there, or not in the supported part of the language."""


@dataclass
class Node:
    """A piece of a template: text, an output, or a block with a body and an alternative."""

    kind: str
    code: list[str] = field(default_factory=list)
    text: str = ""
    body: list["Node"] = field(default_factory=list)
    otherwise: list["Node"] = field(default_factory=list)


def parse(template: str) -> list[Node]:
    """Return the template as a tree; white space beside `{{-` and `-}}` is removed."""
    stack: list[Node] = [Node("root")]
    targets = [stack[0].body]
    position, is_trimmed = 0, False
    for action in _ACTION.finditer(template):
        text = template[position : action.start()]
        text = text.lstrip() if is_trimmed else text
        targets[-1].append(Node("text", text=text.rstrip() if action["left"] else text))
        position, is_trimmed = action.end(), action["right"] is not None
        words = _WORD.findall(action["code"])
        match words:
            case ["if" | "range" | "define" as kind, *code]:
                block = Node(kind, code)
                targets[-1].append(block)
                stack.append(block)
                targets.append(block.body)
            case ["else"] if len(stack) > 1 and stack[-1].kind == "if":
                targets[-1] = stack[-1].otherwise
            case ["end"] if len(stack) > 1:
                stack.pop()
                targets.pop()
            case ["else" | "end" | "with" | "template" | "block", *_] | []:
                raise ChartError(f"not supported here: {action[0]}")
            case _:
                targets[-1].append(Node("output", words))
    if len(stack) > 1:
        raise ChartError(f"a block has no end: {stack[-1].kind} {' '.join(stack[-1].code)}")
    rest = template[position:]
    targets[-1].append(Node("text", text=rest.lstrip() if is_trimmed else rest))
    return stack[0].body


@dataclass
class Scope:
    """What `.` and the variables mean; `$` is the context that the template was given."""

    dot: Any
    variables: Mapping[str, Any]

    def find(self, path: str) -> Any:
        if not _PATH.fullmatch(path):
            raise ChartError(f"not supported: {path}")
        first, *names = path.split(".")
        if first and first not in self.variables:
            raise ChartError(f"unknown variable: {path}")
        value = self.variables[first] if first else self.dot
        for name in filter(None, names):
            if not isinstance(value, Mapping) or name not in value:
                raise ChartError(f"there is no {path}")
            value = value[name]
        return value


class Renderer:
    def __init__(self, templates: Mapping[str, str]) -> None:
        self._trees = {name: parse(text) for name, text in templates.items()}
        self._defined = {
            literal(node.code[0]): node.body
            for tree in self._trees.values()
            for node in tree
            if node.kind == "define"
        }

    def render(self, name: str, context: Mapping[str, Any]) -> str:
        return self._render(self._trees[name], Scope(context, {"$": context}))

    def _render(self, nodes: Sequence[Node], scope: Scope) -> str:
        return "".join(text for node in nodes for text in self._pieces(node, scope))

    def _pieces(self, node: Node, scope: Scope) -> Iterator[str]:
        if node.kind == "text":
            yield node.text
        elif node.kind == "output":
            yield shown(self._evaluate(node.code, scope))
        elif node.kind == "if":
            yield self._render(node.body if self._evaluate(node.code, scope) else node.otherwise, scope)
        elif node.kind == "range":
            for inner in self._ranged(node.code, scope):
                yield self._render(node.body, inner)

    def _ranged(self, code: list[str], scope: Scope) -> Iterator[Scope]:
        names: list[str] = []
        if ":=" in code:
            at = code.index(":=")
            names, code = [word for word in code[:at] if word != ","], code[at + 1 :]
        values = self._evaluate(code, scope)
        items = sorted(values.items()) if isinstance(values, Mapping) else list(enumerate(values))
        for key, value in items:
            named = zip(names, (key, value) if len(names) == 2 else (value,), strict=False)
            yield Scope(value, {**scope.variables, **dict(named)})

    def _evaluate(self, code: list[str], scope: Scope) -> Any:
        """Return the value of a pipeline; each result is the last argument of the next function."""
        commands: list[list[str]] = [[]]
        for word in code:
            if word == "|":
                commands.append([])
            else:
                commands[-1].append(word)
        piped: list[Any] = []
        for function, *arguments in commands:
            values = [value_of(word, scope) for word in arguments] + piped
            if function in FUNCTIONS:
                piped = [FUNCTIONS[function](*values)]
            elif function == "include":
                name, context = values
                piped = [self._render(self._defined[name], Scope(context, {"$": context}))]
            elif values:
                raise ChartError(f"not supported: {' '.join(code)}")
            else:
                piped = [value_of(function, scope)]
        return piped[0]


def literal(word: str) -> str:
    return word[1:-1].replace('\\"', '"')


def value_of(word: str, scope: Scope) -> Any:
    if word.startswith('"'):
        return literal(word)
    return int(word) if word.isdigit() else scope.find(word)


def shown(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def to_yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, default_flow_style=False)).rstrip("\n")


def nindent(width: int, text: str) -> str:
    return "".join(f"\n{' ' * width}{line}" for line in text.split("\n"))


def quote(value: Any) -> str:
    escaped = shown(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def fail(message: str) -> str:
    raise ChartError(message)


FUNCTIONS: Mapping[str, Any] = {
    "toYaml": to_yaml,
    "nindent": nindent,
    "quote": quote,
    "default": lambda fallback, value: value or fallback,
    "fail": fail,
}


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with others over them; mappings are joined, everything else is replaced."""
    joined = dict(values)
    for name, value in over.items():
        known = joined.get(name)
        is_joined = isinstance(known, Mapping) and isinstance(value, Mapping)
        joined[name] = merged(known, value) if is_joined else value  # type: ignore[arg-type]
    return joined


def render(values: Mapping[str, Any], chart: Path = CHART) -> dict[str, str]:
    """Return each template's text for these values over the chart's own, by the template's name."""
    about = yaml.safe_load((chart / "Chart.yaml").read_text())
    templates = {path.name: path.read_text() for path in sorted((chart / "templates").iterdir())}
    context = {
        "Values": merged(yaml.safe_load((chart / "values.yaml").read_text()), values),
        "Chart": {"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
        "Release": RELEASE,
    }
    renderer = Renderer(templates)
    return {name: renderer.render(name, context) for name in templates if not name.startswith("_")}


def manifests(values: Mapping[str, Any], chart: Path = CHART) -> list[dict[str, Any]]:
    """Return the objects that Helm would create."""
    texts = [text for name, text in render(values, chart).items() if name.endswith(".yaml")]
    return [found for text in texts for found in yaml.safe_load_all(text) if found]


def main() -> None:
    values: dict[str, Any] = {}
    for file in sys.argv[1:]:
        values = merged(values, yaml.safe_load(Path(file).read_text()) or {})
    print(yaml.safe_dump_all(manifests(values), sort_keys=False), end="")


if __name__ == "__main__":
    main()
