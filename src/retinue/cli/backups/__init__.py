"""`retinue backup` and `retinue restore`: one file with the database and the files of an instance."""
