from typing import Annotated

from retinue.access.errors import RoleNotFound
from retinue.access.models import Role
from retinue.access.queries import find_role
from retinue.kit.http.routing import PathLoader

RoleByName = Annotated[Role, PathLoader("role", find_role, RoleNotFound)]
