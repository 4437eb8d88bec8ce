"""The checker of projects, which judges what is installed together."""
