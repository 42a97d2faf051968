"""The one registry: every domain's manifest, lowest first."""

from retinue.access.manifest import manifest as access
from retinue.adapters.mail.outgoing import manifest as mail
from retinue.auth.manifest import manifest as auth
from retinue.files.manifest import manifest as files
from retinue.kit.http.discovery import manifest as kit
from retinue.tenants.manifest import manifest as tenants
from retinue.users.manifest import manifest as users

DOMAINS = (kit, mail, tenants, access, files, users, auth)
