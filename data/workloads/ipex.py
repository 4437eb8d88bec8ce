"""IPEX: a small network optimized in float32, and in bfloat16 where the processor can, compared with plain torch."""

import copy

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3),
    torch.nn.ReLU(),
    torch.nn.Flatten(),
    torch.nn.Linear(8 * 14 * 14, 32),
    torch.nn.ReLU(),
    torch.nn.Linear(32, 10),
).eval()
image = torch.rand(4, 3, 16, 16)
with torch.no_grad():
    wanted = model(image)

import intel_extension_for_pytorch as ipex

with torch.no_grad():
    quick = ipex.optimize(copy.deepcopy(model))
    check("optimize float32", quick(image), wanted, 1e-4)
    if "avx512f" in features:
        half = ipex.optimize(copy.deepcopy(model), dtype=torch.bfloat16)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            got = half(image)
        check("optimize bfloat16", got.float(), wanted, 3e-2)
    else:
        skip("optimize bfloat16", "the processor has no avx512f")
    traced = torch.jit.freeze(torch.jit.trace(quick, image))
    traced(image)
    check("traced and frozen", traced(image), wanted, 1e-4)

training = torch.nn.Linear(16, 4)
optimizer = torch.optim.SGD(training.parameters(), lr=0.1)
training, optimizer = ipex.optimize(training.train(), optimizer=optimizer, dtype=torch.float32)
before = training.weight.detach().clone()
training(torch.ones(2, 16)).sum().backward()
optimizer.step()
check("training step", training.weight.detach(), before - 0.2, 1e-4)
