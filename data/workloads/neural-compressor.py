"""Neural Compressor: a post-training quantization of a network of two layers; the result stays near the original."""

import copy

import neural_compressor
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 16)).eval()
samples = torch.rand(32, 64)
with torch.no_grad():
    wanted = model(samples)

if int(neural_compressor.__version__.split(".")[0]) < 3:
    from neural_compressor import PostTrainingQuantConfig, quantization

    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(samples, torch.zeros(32)), batch_size=8)
    quantized = quantization.fit(copy.deepcopy(model), PostTrainingQuantConfig(approach="static"), calib_dataloader=loader)
    assert quantized is not None, "quantization.fit gave no model"
    name = "static int8"
else:
    from neural_compressor.torch.quantization import RTNConfig, convert, prepare

    quantized = convert(prepare(copy.deepcopy(model), RTNConfig(bits=8)))
    name = "round to nearest, 8 bits"
with torch.no_grad():
    got = quantized(samples)
check(name, got, wanted, 0.1)

note("layers", ",".join(sorted({type(m).__name__ for m in quantized.modules()} - {"Sequential", "ReLU"}))[:80])
