"""Queries of the snapshot that need no search: words, changes."""
