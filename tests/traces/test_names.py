"""The names of attributes are those of OpenTelemetry's conventions, in the version that we say."""

import importlib
from pathlib import Path

from opentelemetry import semconv
from opentelemetry.semconv.schemas import Schemas

from retinue.kit.tracing import names


def _conventions() -> set[str]:
    root = Path(semconv.__path__[0])
    found = (path.relative_to(root).with_suffix("").parts for path in root.rglob("*_attributes.py"))
    modules = (importlib.import_module(".".join(("opentelemetry.semconv", *parts))) for parts in found)
    return {value for module in modules for value in vars(module).values() if isinstance(value, str)}


def test_every_name_without_our_prefix_is_a_convention() -> None:
    ours = {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)} - {
        names.SCHEMA_URL
    }
    assert len(ours) > 40
    assert {name for name in ours if not name.startswith("retinue.")} <= _conventions()


def test_the_schema_is_that_of_the_conventions() -> None:
    assert list(Schemas)[-1].value == names.SCHEMA_URL
