"""NumPy beside torch: arrays become tensors and back, sharing memory."""

import numpy
import torch

array = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
tensor = torch.from_numpy(array)
check("from_numpy", tensor.sum(), torch.tensor(66.0))
tensor[0, 0] = 5.0
check("shared memory", float(array[0, 0]), 5.0)
check("numpy()", float((torch.ones(2, 2) * 3).numpy().sum()), 12.0)
check("asarray", float(numpy.asarray(torch.full((3,), 2.0)).sum()), 6.0)
