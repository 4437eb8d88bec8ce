"""From products that have ended to what PyTorch has itself: what of a project has to change, with edits."""
