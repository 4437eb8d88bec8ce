"""Reads the package index and proposes what data/index/ lacks; only `network` talks to anyone, only `write` writes."""
