"""The compiled knowledge base: one read-only SQLite file, written from `data/` and read with the standard library."""
