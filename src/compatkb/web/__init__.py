"""The static site: every answer of the form worked out beforehand, and written as plain files."""
