"""Nodes that decide and shape: nothing leaves the run."""

from datetime import datetime
from typing import Any

from retinue.kit.clock import instant
from retinue.kit.conditions import holds, problems_of
from retinue.kit.context import Context
from retinue.workflows.nodes.kinds import Checking, Done, NodeFailed, NodeType, Problems, Step, Waits

LONGEST_DELAY_S = 366 * 86_400


async def _check_condition(checking: Checking) -> Problems:
    return problems_of(_condition_of(checking.node.config), checking.path)


def _condition_of(config: dict[str, Any]) -> Any:
    return config.get("condition", config)


async def _decide(_: Context, step: Step) -> Done:
    # As it was written: its fields are paths, and its values are filled in where they are compared.
    is_true = holds(_condition_of(step.node.config), step.scope)
    return Done({"result": is_true, "branch": "true" if is_true else "false"})


async def _choose(_: Context, step: Step) -> Done:
    value, cases = step.config.get("value"), step.config.get("cases") or []
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise NodeFailed("invalid_config", "The cases are not a list of objects.", is_final=True)
    for case in cases:
        if case.get("value") == value:
            return Done({"value": value, "branch": str(case.get("name", case.get("value")))})
    return Done({"value": value, "branch": str(step.config.get("default", "default"))})


async def _transform(_: Context, step: Step) -> Done:
    return Done(step.config.get("set", {}))


async def _pass_on(_: Context, _step: Step) -> Done:
    return Done({})


async def _end(_: Context, step: Step) -> Done:
    return Done(step.config.get("output"))


async def _check_delay(checking: Checking) -> Problems:
    config = checking.node.config
    if ("seconds" in config) == ("until" in config):
        return {checking.path: "needs either seconds or until"}
    return {}


async def _delay(ctx: Context, step: Step) -> Done | Waits:
    delay_s = _seconds(ctx, step.config)
    if delay_s <= 0:
        return Done({"waited_s": 0})
    return Waits({"delay_s": delay_s}, delay_s)


def _seconds(ctx: Context, config: dict[str, Any]) -> float:
    try:
        if "until" in config:
            until = datetime.fromisoformat(str(config["until"]))
            delay_s = datetime.fromisoformat(instant(until)).timestamp() - ctx.clock.time()
        else:
            delay_s = float(config["seconds"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise NodeFailed(
            "invalid_delay", "The delay is neither a number nor a moment.", is_final=True
        ) from None
    if not delay_s <= LONGEST_DELAY_S:
        raise NodeFailed("invalid_delay", "The delay is longer than a year.", is_final=True)
    return delay_s


async def _waited(_ctx: Context, _step: Step, run: Any, _result: dict[str, Any]) -> Done:
    return Done({"waited_s": run.state.get("delay_s", 0)})


_ANY = {"type": "object"}

FLOW = (
    NodeType(
        type="condition",
        name="Condition",
        description="Decides between the branches `true` and `false`.",
        config_schema={
            "type": "object",
            "properties": {
                "field": {"type": "string"},
                "operator": {"type": "string"},
                "value": {},
                "all": {"type": "array"},
                "any": {"type": "array"},
                "condition": {"type": "object"},
            },
        },
        check=_check_condition,
        run=_decide,
        is_pure=True,
    ),
    NodeType(
        type="switch",
        name="Switch",
        description="Goes on with the case that has the value, or with the default.",
        config_schema={
            "type": "object",
            "properties": {
                "value": {},
                "cases": {
                    "type": "array",
                    "maxItems": 100,
                    "items": {
                        "type": "object",
                        "properties": {"value": {}, "name": {"type": "string"}},
                        "required": ["value"],
                    },
                },
                "default": {"type": "string"},
            },
            "required": ["value", "cases"],
        },
        run=_choose,
        is_pure=True,
    ),
    NodeType(
        type="transform",
        name="Transform",
        description="Makes a new value out of others.",
        config_schema={"type": "object", "properties": {"set": {}}, "required": ["set"]},
        run=_transform,
        is_pure=True,
    ),
    NodeType(
        type="parallel",
        name="Parallel",
        description="Everything after it begins at the same time.",
        config_schema=_ANY,
        run=_pass_on,
        is_pure=True,
    ),
    NodeType(
        type="delay",
        name="Delay",
        description="Waits for some seconds, or until a moment.",
        config_schema={
            "type": "object",
            "properties": {"seconds": {}, "until": {"type": "string"}},
        },
        check=_check_delay,
        run=_delay,
        is_pure=True,
        resume=_waited,
    ),
    NodeType(
        type="end",
        name="End",
        description="Says what the run gives back.",
        config_schema={"type": "object", "properties": {"output": {}}},
        run=_end,
        is_pure=True,
    ),
)
