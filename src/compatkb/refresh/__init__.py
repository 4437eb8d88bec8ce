"""Feeds, a module a kind of source: `run` proposes what data/index/ lacks, from indexes; `collect` what data/collected/ lacks.

Only `index_client` asks the network, and only `run.write` writes.
"""
