"""The answers: a pure search over the compiled knowledge base, with no clock, no text formatting and no network."""
