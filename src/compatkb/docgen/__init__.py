"""Generated regions of Markdown files: found by their markers, filled from the knowledge base; docs/regions.md."""
