"""torchaudio: resampling of a tone, and a recursive filter (native code in most releases) against a plain loop."""

import math

import torch
import torchaudio

tone = torch.sin(2 * math.pi * 50 * torch.arange(1600) / 1600.0)
wanted = torch.sin(2 * math.pi * 50 * torch.arange(800) / 800.0)
got = torchaudio.functional.resample(tone, 1600, 800)
check("resample", got[100:-100], wanted[100:-100], 2e-2)

signal = torch.rand(1, 200) - 0.5
a, b = torch.tensor([1.0, -0.4, 0.2]), torch.tensor([0.3, 0.2, 0.1])
out = []
for n in range(200):
    value = sum(float(b[k]) * float(signal[0, n - k]) for k in range(3) if n >= k)
    out.append(value - sum(float(a[k]) * out[n - k] for k in (1, 2) if n >= k))
check("lfilter", torchaudio.functional.lfilter(signal, a, b, clamp=False), torch.tensor([out]), 1e-4)
