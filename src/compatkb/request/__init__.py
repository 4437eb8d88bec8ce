"""Parses what users type into a request: version words, pins, products, devices, dates."""
