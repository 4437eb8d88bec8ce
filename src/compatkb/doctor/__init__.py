"""Compares a machine, or an error text, with the knowledge base."""
