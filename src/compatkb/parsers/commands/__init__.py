"""Parsers of install commands, per tool."""
