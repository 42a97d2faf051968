"""A tenant as one file: `retinue export` writes it, `retinue apply` makes the tenant what it says."""
