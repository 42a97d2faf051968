"""Names for values that are JSON and whose shape the reader checks."""

from typing import Any

JsonObject = dict[str, Any]
"""A decoded JSON object; its values are checked where they are used."""
