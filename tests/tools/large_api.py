"""A description of a large API in the style of generated ones: many operations that share nested schemas."""

from typing import Any

Json = dict[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")


def large_api(operations: int = 1200, examples: int = 40) -> Json:
    """Operations `things/0-get` and so on; schemas refer to each other, also in circles."""
    schemas: Json = {
        f"thing-{number}": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "What the thing is called."},
                "parent": {"$ref": f"#/components/schemas/thing-{number}"},
                "next": {"$ref": f"#/components/schemas/thing-{(number + 1) % 200}"},
                "example": {"type": "string"},
            },
            "example": {"name": "an example that no tool needs"},
        }
        for number in range(200)
    }
    paths: Json = {}
    for number in range(operations):
        path, method = f"/things/{number // 5}", METHODS[number % 5]
        schema = {"$ref": f"#/components/schemas/thing-{number % 200}"}
        operation: Json = {
            "operationId": f"things/{number // 5}-{method}",
            "summary": f"{method} thing {number // 5}",
            "responses": {
                "200": {
                    "description": "ok",
                    "content": {
                        "application/json": {
                            "schema": schema,
                            "examples": {"one": {"value": [{"name": "x" * 200}] * examples}},
                        }
                    },
                },
                "404": {"description": "There is no such thing."},
            },
        }
        if method != "get":
            operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
        paths.setdefault(path, {})[method] = operation
    return {
        "openapi": "3.0.3",
        "info": {"title": "Things", "version": "1", "description": "The description of the whole API."},
        "servers": [{"url": "https://things.example.com"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }
