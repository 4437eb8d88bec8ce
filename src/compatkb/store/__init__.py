"""The compiled knowledge base: one read-only SQLite file, written from `data/`, read with the standard library alone."""
