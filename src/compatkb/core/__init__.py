"""What every package may use: versions, platforms, names, findings, positions, atomic writes."""
