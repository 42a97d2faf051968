"""Every operation of the specification's tables that are built so far is a route."""

import re

import pytest

from tests.contract.routes import ROUTES

OPERATIONS = """
POST /auth/register
POST /auth/login
POST /auth/mfa/verify
POST /auth/logout
POST /auth/refresh
GET /auth/me
POST /auth/change-password
POST /auth/forgot-password
POST /auth/reset-password
POST /auth/verify-email
GET /api/v1/mfa/status
POST /api/v1/mfa/setup
POST /api/v1/mfa/enable
POST /api/v1/mfa/disable
POST /api/v1/mfa/verify
GET /api/v1/mfa/devices
DELETE /api/v1/mfa/devices/:deviceId
POST /api/v1/mfa/recovery-codes
GET /users
PUT /users/:id/role
DELETE /users/:id
POST /users/:id/deactivate
POST /users/:id/reactivate
POST /api/v1/users/:id/mfa/reset
GET /api/v1/profile
PUT /api/v1/profile
POST /api/v1/profile/avatar
DELETE /api/v1/profile/avatar
GET /me/permissions
GET /permissions
GET /roles/:role/permissions
PUT /roles/:role/permissions
GET /v1/credentials
POST /v1/credentials
GET /v1/credentials/:id
PUT /v1/credentials/:id
DELETE /v1/credentials/:id
GET /v1/credentials/:id/reveal
PUT /v1/credentials/:id/secrets
POST /v1/credentials/:id/test
GET /v1/credentials/types
GET /v1/credentials/audit
GET /v1/credentials/:id/audit
GET /v1/credentials/:id/access
POST /v1/credentials/:id/access
DELETE /v1/credentials/:id/access/:access_id
GET /v1/tools
POST /v1/tools
GET /v1/tools/:id
PUT /v1/tools/:id
DELETE /v1/tools/:id
GET /v1/tools/categories
POST /v1/tools/:tool_id/execute
GET /v1/tools/:tool_id/executions
GET /v1/tools/:tool_id/stats
"""

BUILT = {f"{route.method} {re.sub(r'{[^}]+}', ':', route.path)}" for route in ROUTES}


@pytest.mark.parametrize("operation", OPERATIONS.split("\n")[1:-1])
def test_the_operation_is_a_route(operation: str) -> None:
    assert re.sub(r":\w+", ":", operation) in BUILT
