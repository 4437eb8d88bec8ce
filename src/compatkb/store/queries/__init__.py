"""Typed queries for display, by topic; beside the reader, the only place with SQL."""
