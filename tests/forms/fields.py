"""Fields that depend on each other."""

TOPIC = {
    "id": "topic",
    "type": "select",
    "label": "Topic",
    "required": True,
    "options": [{"value": "s1", "label": "Sales"}, {"value": "s2", "label": "Support"}],
}

TEAM = {
    "id": "team",
    "type": "number",
    "label": "Team size",
    "required": True,
    "validation": {"min": 1},
    "conditional": {"field": "topic", "operator": "equals", "value": "s1"},
}
