"""Nodes that branch, transform and wait; they affect only their own execution."""

from datetime import datetime
from typing import Any

from retinue.kit.clock import to_instant
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.conditions import find_condition_problems, is_met
from retinue.workflows.engine.node_type import (
    NodeCheck,
    NodeCompleted,
    NodeFailed,
    NodeStep,
    NodeSuspended,
    NodeType,
    Problems,
)

MAX_DELAY_SECONDS = 366 * 86_400


async def _check_condition(node_check: NodeCheck) -> Problems:
    return find_condition_problems(_condition_of(node_check.node.config), node_check.path)


def _condition_of(config: JsonObject) -> Any:
    return config.get("condition", config)


async def _run_condition(_: Context, step: NodeStep) -> NodeCompleted:
    # Not the rendered configuration: the fields are paths, and `is_met` renders the values.
    is_true = is_met(_condition_of(step.node.config), step.scope)
    return NodeCompleted({"result": is_true, "branch": "true" if is_true else "false"})


async def _run_switch(_: Context, step: NodeStep) -> NodeCompleted:
    value, cases = step.config.get("value"), step.config.get("cases") or []
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise NodeFailed("invalid_config", "The cases must be a list of objects.", is_final=True)
    for case in cases:
        if case.get("value") == value:
            return NodeCompleted({"value": value, "branch": str(case.get("name", case.get("value")))})
    return NodeCompleted({"value": value, "branch": str(step.config.get("default", "default"))})


async def _run_transform(_: Context, step: NodeStep) -> NodeCompleted:
    return NodeCompleted(step.config.get("set", {}))


async def _run_parallel(_: Context, _step: NodeStep) -> NodeCompleted:
    return NodeCompleted({})


async def _run_end(_: Context, step: NodeStep) -> NodeCompleted:
    return NodeCompleted(step.config.get("output"))


async def _check_delay(node_check: NodeCheck) -> Problems:
    config = node_check.node.config
    if ("seconds" in config) == ("until" in config):
        return {node_check.path: "must have either seconds or until"}
    return {}


async def _run_delay(ctx: Context, step: NodeStep) -> NodeCompleted | NodeSuspended:
    delay_s = _delay_seconds(ctx, step.config)
    if delay_s <= 0:
        return NodeCompleted({"waited_s": 0})
    return NodeSuspended({"delay_s": delay_s}, delay_s)


def _delay_seconds(ctx: Context, config: JsonObject) -> float:
    try:
        if "until" in config:
            until = datetime.fromisoformat(str(config["until"]))
            delay_s = datetime.fromisoformat(to_instant(until)).timestamp() - ctx.clock.time()
        else:
            delay_s = float(config["seconds"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise NodeFailed(
            "invalid_delay", "The delay must be a number of seconds or an ISO 8601 time.", is_final=True
        ) from None
    if not delay_s <= MAX_DELAY_SECONDS:
        raise NodeFailed("invalid_delay", "The delay must be at most 366 days.", is_final=True)
    return delay_s


async def _resume_delay(_ctx: Context, _step: NodeStep, run: Any, _result: JsonObject) -> NodeCompleted:
    return NodeCompleted({"waited_s": run.state.get("delay_s", 0)})


_NO_KEYS: JsonObject = {"type": "object", "properties": {}}

CONTROL_NODES = (
    NodeType(
        type="condition",
        name="Condition",
        description="Checks a condition and continues with the branch `true` or `false`.",
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
        run=_run_condition,
        is_pure=True,
    ),
    NodeType(
        type="switch",
        name="Switch",
        description="Continues with the branch of the case that equals the value, or with the default.",
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
        run=_run_switch,
        is_pure=True,
    ),
    NodeType(
        type="transform",
        name="Transform",
        description="Builds a new value from the input and the results of earlier nodes.",
        config_schema={"type": "object", "properties": {"set": {}}, "required": ["set"]},
        run=_run_transform,
        is_pure=True,
    ),
    NodeType(
        type="parallel",
        name="Parallel",
        description="Starts all nodes after it at the same time.",
        config_schema=_NO_KEYS,
        run=_run_parallel,
        is_pure=True,
    ),
    NodeType(
        type="delay",
        name="Delay",
        description="Waits for a number of seconds, or until a given time.",
        config_schema={
            "type": "object",
            "properties": {"seconds": {}, "until": {"type": "string"}},
        },
        check=_check_delay,
        run=_run_delay,
        is_pure=True,
        resume=_resume_delay,
    ),
    NodeType(
        type="end",
        name="End",
        description="Sets the output of the execution.",
        config_schema={"type": "object", "properties": {"output": {}}},
        run=_run_end,
        is_pure=True,
    ),
)
