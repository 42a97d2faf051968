from retinue.kit.schema.base import Schema


class SessionOut(Schema, kw_only=True):
    id: str
    created_at: str
    last_used_at: str
    expires_at: str
    ip_address: str
    user_agent: str
    is_current: bool
