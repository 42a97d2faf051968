"""Request and response schemas of auth, one file per concern."""
