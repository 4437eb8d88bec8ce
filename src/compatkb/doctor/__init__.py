"""A machine, or an error text, against the knowledge base."""
