"""Small but complete descriptions of one API, in the three formats."""

import copy

PET = {
    "type": "object",
    "required": ["name", "id"],
    "properties": {
        "id": {"type": "integer", "format": "int64", "readOnly": True},
        "name": {"type": "string", "maxLength": 50, "example": "Rex"},
        "tag": {"type": "string", "nullable": True, "enum": ["cat", "dog"]},
        "secret": {"type": "string", "writeOnly": True},
        "parent": {"$ref": "#/components/schemas/Pet"},
        "weight": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "xml": {"name": "w"}},
    },
}

PETS = {
    "openapi": "3.0.3",
    "info": {"title": "Pet Store", "description": "Sells pets.", "version": "1.2"},
    "servers": [
        {
            "url": "https://{region}.pets.example/v1/",
            "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}},
        }
    ],
    "security": [{"key": []}],
    "paths": {
        "/pets": {
            "parameters": [{"$ref": "#/components/parameters/Version"}],
            "get": {
                "operationId": "listPets",
                "summary": "List all pets",
                "description": "Page by page.",
                "parameters": [
                    {
                        "name": "limit",
                        "in": "query",
                        "description": "How many",
                        "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                    },
                    {"name": "X-Api-Key", "in": "header", "required": True, "schema": {"type": "string"}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                ],
                "responses": {
                    "200": {
                        "description": "ok",
                        "content": {
                            "application/json": {
                                "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}
                            }
                        },
                    },
                    "default": {"$ref": "#/components/responses/Error"},
                },
            },
            "post": {
                "operationId": "createPet",
                "requestBody": {"$ref": "#/components/requestBodies/Pet"},
                "responses": {"201": {"description": "made"}},
            },
        },
        "/pets/{petId}": {
            "get": {
                "parameters": [
                    {"name": "petId", "in": "path", "required": True, "schema": {"type": "integer"}}
                ],
                "responses": {},
            },
            "put": {
                "operationId": "replace-pet",
                "parameters": [{"name": "dry_run", "in": "query", "schema": {"type": "boolean"}}],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
                },
            },
            "delete": {"operationId": "delete.pet"},
            "head": {"operationId": "headPet"},
        },
    },
    "components": {
        "schemas": {"Pet": PET},
        "parameters": {
            "Version": {
                "name": "api-version",
                "in": "header",
                "required": True,
                "schema": {"type": "string", "enum": ["2026-01-01"]},
            }
        },
        "requestBodies": {
            "Pet": {
                "required": True,
                "content": {
                    "text/xml": {"schema": {"type": "string"}},
                    "application/json; charset=utf-8": {"schema": {"$ref": "#/components/schemas/Pet"}},
                },
            }
        },
        "responses": {"Error": {"description": "bad"}},
        "securitySchemes": {
            "other": {"type": "http", "scheme": "basic"},
            "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        },
    },
}

SWAGGER = {
    "swagger": "2.0",
    "info": {"title": "Pet Store", "version": "1.2"},
    "host": "pets.example:8443",
    "basePath": "/v1",
    "schemes": ["http", "https"],
    "consumes": ["application/json"],
    "securityDefinitions": {
        "app": {
            "type": "oauth2",
            "flow": "application",
            "tokenUrl": "https://login.example/token",
            "scopes": {"read": "Reads", "write": "Writes"},
        }
    },
    "paths": {
        "/pets/{id}": {
            "post": {
                "operationId": "updatePet",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "type": "integer", "minimum": 1},
                    {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}},
                ],
                "responses": {"200": {"description": "ok", "schema": {"$ref": "#/definitions/Pet"}}},
            }
        },
        "/photos": {
            "post": {"parameters": [{"name": "file", "in": "formData", "type": "file", "required": True}]}
        },
    },
    "definitions": {
        "Pet": {
            "allOf": [
                {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
                {"properties": {"age": {"type": "integer"}}},
            ]
        }
    },
}


def make_document(paths, **more):
    """Return a document of the newest format with these paths."""
    return {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths, **more}


def make_post_document(schema, *, required=True, **more):
    """Return a document with one POST operation with this body."""
    body = {"required": required, "content": {"application/json": {"schema": schema}}}
    return make_document({"/x": {"post": {"operationId": "x", "requestBody": body}}}, **more)


def pets():
    return copy.deepcopy(PETS)
