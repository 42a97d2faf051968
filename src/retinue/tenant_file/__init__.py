"""A tenant as one file: `retinue export` writes it, `retinue apply` changes the tenant to match it."""
