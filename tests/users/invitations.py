"""An invitation and the registration that accepts it."""

EMAIL = "ada@engine.example"


def registration(token: str, email: str = EMAIL) -> dict[str, str]:
    return {
        "email": email,
        "password": "Analytical-1843",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "invite_token": token,
    }


async def invite(api, email: str = EMAIL):
    return await api.post("/users/invite", {"email": email, "role": "viewer"})
