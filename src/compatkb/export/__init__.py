"""The knowledge base in forms that other programs read: SQLite, JSON, CSV, graphs, diagrams, calendars, schemas."""
