"""Compiles a knowledge base into the rows of a snapshot, one module per topic."""
