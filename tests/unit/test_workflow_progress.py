"""Tests of a run's progress through its graph, with nodes that end in any order."""

import itertools
import random

from retinue.workflows.definition import parse_definition
from retinue.workflows.engine import graph as progress


def graph(*edges: tuple[str, str, object]):
    names = dict.fromkeys(name for source, target, _ in edges for name in (source, target))
    return parse_definition(
        [{"id": name, "type": "transform"} for name in names],
        [{"from": source, "to": target, "when": when} for source, target, when in edges],
    )


def play(definition, order, branch=None):
    """End ready nodes in this order; return the nodes that ended and those that were skipped."""
    advance = progress.initial_advance(definition)
    edges, ready, ended, skipped = advance.progress, list(advance.ready), [], []
    while ready:
        node_id = min(ready, key=order.index)
        ready.remove(node_id)
        ended.append(node_id)
        after = progress.after_success(
            definition, edges, node_id, lambda edge: edge.is_taken({"branch": branch}, {})
        )
        edges = after.progress
        ready += after.ready
        skipped += after.skipped
    assert progress.OPEN not in edges
    return ended, skipped


DIAMOND = graph(("a", "b", None), ("a", "c", None), ("b", "d", None), ("c", "d", None), ("d", "e", None))


def test_a_join_is_ready_once_whichever_branch_ends_first():
    for order in itertools.permutations("abcde"):
        ended, skipped = play(DIAMOND, order)
        assert sorted(ended) == list("abcde")
        assert skipped == []
        assert ended.index("d") > max(ended.index("b"), ended.index("c"))


def test_a_branch_that_is_not_taken_is_skipped_and_its_join_goes_on():
    definition = graph(
        ("if", "yes", "true"), ("if", "no", "false"), ("no", "after_no", None),
        ("yes", "join", None), ("after_no", "join", None),
    )  # fmt: skip
    ended, skipped = play(definition, ["if", "yes", "no", "after_no", "join"], branch="true")
    assert ended == ["if", "yes", "join"]
    assert skipped == ["no", "after_no"]


def test_when_no_branch_is_taken_everything_after_it_is_skipped_once():
    definition = graph(("if", "b", "true"), ("if", "c", "false"), ("b", "d", None), ("c", "d", None))
    ended, skipped = play(definition, ["if", "b", "c", "d"], branch="neither")
    assert (ended, sorted(skipped)) == (["if"], ["b", "c", "d"])


def test_in_any_graph_every_node_ends_or_is_skipped_exactly_once():
    chance = random.Random(7)
    for _ in range(300):
        names = [f"n{number}" for number in range(chance.randint(2, 12))]
        edges = [
            (source, target, chance.choice([None, "true", "false"]))
            for source, target in itertools.combinations(names, 2)
            if chance.random() < 0.35
        ]
        if not edges:
            continue
        definition = graph(*edges)
        order = chance.sample(names, len(names))
        ended, skipped = play(definition, order, branch=chance.choice(["true", "false"]))
        assert sorted(ended + skipped) == sorted(definition.nodes)
