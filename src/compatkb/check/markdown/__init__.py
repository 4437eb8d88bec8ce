"""The checker of Markdown documents, one topic a module."""
