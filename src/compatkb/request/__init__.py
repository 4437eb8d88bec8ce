"""What users type, parsed once into a request: version words, pins, products, devices, dates."""
