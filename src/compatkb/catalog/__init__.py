"""Queries of the snapshot that no search needs: words, changes, figures, disputes."""
