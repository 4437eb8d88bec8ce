"""The headline options: the only product names in the code."""

HEADLINES = (
    # option, further spellings, product, what it takes
    ("--torch", (), "torch", "PyTorch: a series (2.4), a release (2.4.0), a build (2.4.0+cpu) or a set ('>=2.5,<2.7')"),
    ("--ipex", (), "ipex", "Intel Extension for PyTorch, likewise"),
    ("--torchvision", (), "torchvision", "torchvision, likewise"),
    ("--torchaudio", (), "torchaudio", "torchaudio, likewise"),
    ("--triton-xpu", ("--triton",), "triton-xpu", "Triton for XPU, likewise"),
    ("--oneccl-bind-pt", ("--oneccl",), "oneccl-bind-pt", "oneCCL bindings for PyTorch, likewise"),
    ("--neural-compressor", ("--inc",), "neural-compressor", "Neural Compressor, likewise"),
    ("--python", (), "python", "Python, such as 3.12, 3.13t, '>=3.10'"),
    ("--os", (), "os", "operating system, such as linux, ubuntu22.04, windows, wsl2"),
    ("--arch", (), "arch", "architecture (default: x86_64)"),
    ("--hardware", ("--gpu", "--hw"), "hardware", "GPU or CPU by family, product or code name: 'Arc A770', PVC, b580"),
    ("--driver", ("--gpu-driver",), "gpu-driver", "GPU driver, such as 803, 950.13, 2350.29"),
    ("--oneapi", (), "oneapi", "oneAPI Base Toolkit, such as 2024.2.1"),
)
