"""The ways to a provider of models, found in the source: all of them lead through `providers.model_calls`."""

import ast
from collections.abc import Iterator, Mapping

# What gives somebody a client of a provider, and the modules that may use it. `key_check` lists models, which
# costs nothing.
OPENERS = {
    "provider_for": {"retinue.adapters.llm", "retinue.providers.failover", "retinue.providers.key_check"},
    "OpenAiClient": {
        "retinue.adapters.llm",
        "retinue.adapters.llm.openai",
        "retinue.adapters.llm.openai.client",
    },
    "AnthropicClient": {
        "retinue.adapters.llm",
        "retinue.adapters.llm.anthropic",
        "retinue.adapters.llm.anthropic.client",
    },
    "for_requester": {"retinue.adapters.embedded.models", "retinue.providers.failover"},
    "KeyAttempts": {"retinue.providers.failover", "retinue.providers.model_calls"},
}
# What a client does that costs money; listing its models does not.
CALLS = frozenset({"chat", "stream", "embed", "transcribe", "speak"})
DOOR = "retinue.providers.model_calls"


def other_ways(sources: Mapping[str, str]) -> list[str]:
    """Return the uses of a provider without a hold in these modules, given by name."""
    found = []
    for module, source in sources.items():
        tree = ast.parse(source)
        used = set(_names(tree))
        found += [
            f"{module} uses {name}"
            for name, allowed in OPENERS.items()
            if name in used and module not in allowed
        ]
        if "provider_for" in used and module != DOOR and not module.startswith("retinue.adapters."):
            found += [f"{module} calls {name}" for name in _calls_of_clients(tree)]
        if module == DOOR:
            found += [f"{module}.{name} needs no hold" for name in _functions_without_hold(tree)]
    return found


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)


def _calls_of_clients(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS:
            yield node.func.attr


def _functions_without_hold(tree: ast.Module) -> Iterator[str]:
    """The public functions whose `hold` is not a required keyword of type SpendingHold."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        required = {
            argument.arg: ast.unparse(argument.annotation) if argument.annotation else ""
            for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if default is None
        }
        if required.get("hold") != "SpendingHold":
            yield node.name
