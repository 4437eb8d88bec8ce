"""What every package may use: versions, platforms, names, findings, positions, whole-or-nothing writes."""
