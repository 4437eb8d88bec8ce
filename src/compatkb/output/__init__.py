"""Answers as text, JSON, commands and requirement files: a value in, a string out."""
