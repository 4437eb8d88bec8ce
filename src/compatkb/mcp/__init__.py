"""Answers for coding agents: tools of the Model Context Protocol, which the official SDK speaks."""
