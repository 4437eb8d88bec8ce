"""Feeds: a module a kind of source; proposes what data/index/ lacks; only `index_client` does I/O, only `write` writes."""
