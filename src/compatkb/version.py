"""The version of the program, apart from the public names: what prints it imports nothing else."""

__version__ = "0.1.0"
