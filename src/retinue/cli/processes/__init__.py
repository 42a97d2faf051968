"""`retinue serve --processes N`: a supervisor, a fork server that has imported everything, and N workers."""
