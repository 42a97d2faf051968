"""The public shapes of signing in; each file has those of one concern."""
