"""A schema of a city, and answers of models that match it and that do not."""

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer", "minimum": 1}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
GRAZ = '{"city": "Graz", "people": 300000}'
VALUE = {"city": "Graz", "people": 300000}
WRONG = '{"city": "Graz"}'
REQUEST = {"output_schema": CITY}
