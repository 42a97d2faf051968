"""Other servers that do a similar job, measured with the same provider and the same load."""
