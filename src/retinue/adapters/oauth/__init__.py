"""Tokens from OAuth 2.0 token endpoints."""

from retinue.adapters.oauth.errors import FailureKind, OAuthFailed
from retinue.adapters.oauth.grants import ClientAuth, Grant, request_token
from retinue.adapters.oauth.token import OAuthToken

__all__ = ["ClientAuth", "FailureKind", "Grant", "OAuthFailed", "OAuthToken", "request_token"]
