"""Typed queries for what is shown rather than solved, by topic: the only SQL beside the reader's."""
