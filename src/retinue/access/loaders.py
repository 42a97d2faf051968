from typing import Annotated

from retinue.access.errors import RoleNotFound
from retinue.access.models import Role
from retinue.access.queries import find_role
from retinue.kit.http.routing import Loaded

RoleByName = Annotated[Role, Loaded("role", find_role, RoleNotFound)]
