"""Parsers of other projects' files: text in, typed statements with their positions out."""
