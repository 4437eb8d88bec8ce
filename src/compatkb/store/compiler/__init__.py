"""A knowledge base to the rows of a snapshot, one module per topic."""
