"""Validates claims with real installers and interpreters: cells, their runners, and the evidence that they record."""
