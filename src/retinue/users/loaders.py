from typing import Annotated

from retinue.kit.http.routing import PathLoader
from retinue.users.errors import UserNotFound
from retinue.users.models import User
from retinue.users.queries import find_administered

UserById = Annotated[User, PathLoader("user_id", find_administered, UserNotFound)]
