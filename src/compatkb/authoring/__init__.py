"""Turns the TOML of curators into a knowledge base with every reference resolved; canonical form and lint."""
