"""Reads the package index and proposes what data/index/ lacks; only `index_client` does I/O, only `write` writes."""
