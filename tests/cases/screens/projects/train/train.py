import torch
import intel_extension_for_pytorch as ipex

model = torch.nn.Linear(8, 8)
with torch.xpu.amp.autocast():
    model(torch.ones(8))
