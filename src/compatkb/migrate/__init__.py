"""Migrates projects away from discontinued products to what PyTorch provides: what to change, with the edits."""
