"""Generates the marked regions of Markdown files from the knowledge base; docs/regions.md."""
