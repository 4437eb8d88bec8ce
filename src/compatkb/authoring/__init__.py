"""TOML of people to a knowledge base with every reference resolved; its canonical form, and lint."""
