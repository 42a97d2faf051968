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
"""

BUILT = {f"{route.method} {re.sub(r'{[^}]+}', ':', route.path)}" for route in ROUTES}


@pytest.mark.parametrize("operation", OPERATIONS.split("\n")[1:-1])
def test_the_operation_is_a_route(operation: str) -> None:
    assert re.sub(r":\w+", ":", operation) in BUILT
