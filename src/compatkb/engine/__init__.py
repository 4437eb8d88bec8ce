"""The engine: a pure search over the compiled knowledge base, with no clock, no text formatting and no I/O."""
