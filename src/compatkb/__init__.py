"""compatkb: which versions of PyTorch and its companions work together on Intel hardware, and how we know."""

__version__ = "0.1.0"
