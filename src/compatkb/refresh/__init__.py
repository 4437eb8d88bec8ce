"""Reads the package index and proposes what data/index/ lacks; only `index_client` talks to anyone, only `write` writes."""
