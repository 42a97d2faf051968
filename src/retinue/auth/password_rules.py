"""Rules for new passwords. An old password is only compared."""

MAX_PASSWORD_LENGTH = 128


def password_problem(password: str) -> str:
    """Return what a new password lacks; empty if it has at least 8 characters, both cases and a number."""
    if len(password) > MAX_PASSWORD_LENGTH:
        return f"must be at most {MAX_PASSWORD_LENGTH} characters"
    missing = []
    if len(password) < 8:
        missing.append("at least 8 characters")
    if not any(letter.isupper() for letter in password):
        missing.append("an uppercase letter")
    if not any(letter.islower() for letter in password):
        missing.append("a lowercase letter")
    if not any(letter.isdigit() for letter in password):
        missing.append("a number")
    return f"must have {', '.join(missing)}" if missing else ""
