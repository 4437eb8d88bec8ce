import torch
import intel_extension_for_pytorch as ipex

model = torch.nn.Linear(8, 8).to("xpu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = ipex.optimize(model, optimizer=optimizer, dtype=torch.bfloat16)
