"""Problems of a file, for people: the first ones by line and column, and how many there are of each kind."""

from collections.abc import Mapping, Sequence

from retinue.kit.json_types import JsonObject
from retinue.tables.models import TableImport
from retinue.tables.row_validation import Faults

MAX_PROBLEMS = 20
MAX_PROBLEM_KINDS = 50


def describe_problems(
    run: TableImport, lines: Sequence[int | None], faults_by_position: Mapping[int, Faults]
) -> JsonObject:
    """Return the problems of an import and their counts after another batch of its rows."""
    problems = list(run.problems)
    counts = {(one["column"], one["message"]): int(one["rows"]) for one in run.problem_counts}
    for at in sorted(faults_by_position):
        for column, message in faults_by_position[at].items():
            kind = (column, message)
            if kind in counts or len(counts) < MAX_PROBLEM_KINDS:
                counts[kind] = counts.get(kind, 0) + 1
            if len(problems) < MAX_PROBLEMS:
                place = {"line": lines[at] if at < len(lines) else None, "row": run.rows_read + 1 + at}
                problems.append({**place, "column": column, "message": message})
    return {
        "problems": problems,
        "problem_counts": [
            {"column": column, "message": message, "rows": count}
            for (column, message), count in counts.items()
        ],
    }
