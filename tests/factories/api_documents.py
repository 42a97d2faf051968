"""Excerpts in the shapes of three well-known API documents; names and texts are our own.

- `chat_api`: Swagger 2.0 whose operations take form fields and declare the access token as a parameter.
- `payment_api`: OpenAPI 3.0 whose bodies are forms of nested objects (`deepObject`), as are its queries.
- `phone_api`: OpenAPI 3.0 whose bodies are flat forms with repeated fields, named in PascalCase.
"""

from typing import Any

Document = dict[str, Any]

_TOKEN = {
    "name": "token",
    "in": "header",
    "required": True,
    "type": "string",
    "description": "Authentication token. Requires scope: `chat:write`",
}
_OK = {"200": {"description": "ok", "schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}}


def _method(verb: str, name: str, *parameters: Document, **more: Any) -> Document:
    id = name.replace(".", "_")
    return {f"/{name}": {verb: {"operationId": id, "parameters": list(parameters), "responses": _OK, **more}}}


def _field(name: str, kind: str = "string", **more: Any) -> Document:
    return {"name": name, "in": "formData", "type": kind, **more}


def _query(name: str, kind: str = "string", **more: Any) -> Document:
    return {"name": name, "in": "query", "type": kind, **more}


def chat_api(url: str) -> Document:
    query_token = {**_TOKEN, "in": "query", "required": True}
    paths = [
        _method(
            "post", "chat.post", _TOKEN, _field("channel", required=True), _field("text"), _field("blocks")
        ),
        _method("post", "chat.delete", _TOKEN, _field("ts", "number"), _field("as_user", "boolean")),
        _method("post", "files.upload", _TOKEN, _field("file", "file", required=True), _field("title")),
        _method(
            "post",
            "views.invite",
            {**_TOKEN, "in": "formData"},
            _field("users", "array", required=True, items={"type": "string"}),
        ),
        _method("get", "chat.list", query_token, _query("types", "array", items={"type": "string"})),
        _method("get", "auth.test", _TOKEN),
    ]
    host = url.removeprefix("http://")
    return {
        "swagger": "2.0",
        "info": {"title": "Chat Web API", "version": "1.7.0"},
        "host": host,
        "schemes": ["http"],
        "basePath": "/api",
        "consumes": ["application/x-www-form-urlencoded", "application/json"],
        "paths": {path: item for part in paths for path, item in part.items()},
        "securityDefinitions": {
            "chatAuth": {
                "type": "oauth2",
                "flow": "accessCode",
                "authorizationUrl": "https://chat.example/oauth/authorize",
                "tokenUrl": "https://chat.example/api/oauth.access",
                "scopes": {"chat:write": "Send messages"},
            }
        },
    }


def _deep_form(properties: Document, required: list[str] | None = None, **more: Any) -> Document:
    nested = [
        name for name, schema in properties.items() if "type" not in schema or schema["type"] != "string"
    ]
    schema: Document = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    if required:
        schema["required"] = required
    encoding = {name: {"style": "deepObject", "explode": True} for name in nested}
    content = {"application/x-www-form-urlencoded": {"schema": schema, "encoding": encoding}}
    return {"content": content, "required": bool(required)}


_METADATA = {
    "anyOf": [
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "string", "enum": [""]},
    ]
}
_EXPAND = {"type": "array", "items": {"type": "string", "maxLength": 5000}}
_ADDRESS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "country": {"type": "string"}, "line1": {"type": "string"}},
}
_LINE = {
    "type": "object",
    "required": ["price"],
    "properties": {
        "price": {"type": "string"},
        "quantity": {"type": "integer"},
        "discounts": {
            "type": "array",
            "items": {"type": "object", "properties": {"coupon": {"type": "string"}}},
        },
    },
}
_CREATED = {
    "name": "created",
    "in": "query",
    "style": "deepObject",
    "explode": True,
    "schema": {
        "anyOf": [{"type": "object", "properties": {"gte": {"type": "integer"}}}, {"type": "integer"}],
    },
}
_CUSTOMER = {
    "name": "customer",
    "in": "path",
    "required": True,
    "style": "simple",
    "schema": {"type": "string"},
}


def payment_api(url: str) -> Document:
    customer = {
        "address": _ADDRESS,
        "email": {"type": "string"},
        "expand": _EXPAND,
        "metadata": _METADATA,
    }
    lines = {
        "customer": {"type": "string"},
        "items": {"type": "array", "items": _LINE},
        "off_session": {"type": "boolean"},
        "expand": _EXPAND,
    }
    expand = {"name": "expand", "in": "query", "style": "deepObject", "explode": True, "schema": _EXPAND}
    multipart = {"type": "object", "required": ["file"], "properties": {}}
    multipart["properties"] = {
        "file": {"type": "string", "format": "binary"},
        "purpose": {"type": "string"},
        "link": {"type": "object", "properties": {"create": {"type": "boolean"}}},
    }
    return {
        "openapi": "3.0.0",
        "info": {"title": "Payments", "version": "2026-10-01"},
        "servers": [{"url": url}],
        "components": {"securitySchemes": {"bearerAuth": {"type": "http", "scheme": "bearer"}}},
        "security": [{"bearerAuth": []}],
        "paths": {
            "/v1/customers": {
                "get": {
                    "operationId": "GetCustomers",
                    "parameters": [
                        _CREATED,
                        expand,
                        {"name": "limit", "in": "query", "schema": {"type": "integer"}},
                    ],
                    "requestBody": _deep_form({}),
                },
                "post": {"operationId": "PostCustomers", "requestBody": _deep_form(customer)},
            },
            "/v1/customers/{customer}": {
                "parameters": [_CUSTOMER],
                "delete": {"operationId": "DeleteCustomer", "requestBody": _deep_form({})},
                "post": {"operationId": "PostCustomer", "requestBody": _deep_form(customer)},
            },
            "/v1/subscriptions": {
                "post": {
                    "operationId": "PostSubscriptions",
                    "requestBody": _deep_form(lines, ["customer", "items"]),
                }
            },
            "/v1/files": {
                "post": {
                    "operationId": "PostFiles",
                    "requestBody": {
                        "required": True,
                        "content": {
                            "multipart/form-data": {
                                "schema": multipart,
                                "encoding": {"link": {"style": "deepObject", "explode": True}},
                            }
                        },
                    },
                }
            },
        },
    }


def phone_api(url: str) -> Document:
    account = {"name": "AccountSid", "in": "path", "required": True, "schema": {"type": "string"}}
    message = {
        "type": "object",
        "title": "CreateMessageRequest",
        "required": ["To"],
        "properties": {
            "To": {"type": "string", "format": "phone-number"},
            "Body": {"type": "string"},
            "MediaUrl": {"type": "array", "items": {"type": "string", "format": "uri"}},
            "ProvideFeedback": {"type": "boolean"},
            "ContentVariables": {"type": "object"},
        },
    }
    update = {"type": "object", "properties": {"Status": {"type": "string", "enum": ["canceled"]}}}
    item = {"name": "Sid", "in": "path", "required": True, "schema": {"type": "string"}}
    after = {"name": "DateSent>", "in": "query", "schema": {"type": "string", "format": "date-time"}}
    match = {"name": "If-Match", "in": "header", "required": True, "schema": {"type": "string"}}
    form = "application/x-www-form-urlencoded"
    messages = "/2010-04-01/Accounts/{AccountSid}/Messages"
    return {
        "openapi": "3.0.1",
        "info": {"title": "Phone", "version": "1.0.0"},
        "servers": [{"url": url}],
        "components": {
            "securitySchemes": {"accountSid_authToken": {"type": "http", "scheme": "basic"}},
            "schemas": {"message": message, "update": update},
        },
        "paths": {
            f"{messages}.json": {
                "servers": [{"url": url}],
                "get": {"operationId": "ListMessage", "parameters": [account, after]},
                "post": {
                    "operationId": "CreateMessage",
                    "parameters": [account],
                    "requestBody": {"content": {form: {"schema": {"$ref": "#/components/schemas/message"}}}},
                },
            },
            f"{messages}/{{Sid}}.json": {
                "servers": [{"url": url}],
                "post": {
                    "operationId": "UpdateMessage",
                    "parameters": [account, item, match],
                    "requestBody": {
                        "required": True,
                        "content": {form: {"schema": {"$ref": "#/components/schemas/update"}}},
                    },
                },
                "delete": {"operationId": "DeleteMessage", "parameters": [account, item]},
            },
        },
    }
