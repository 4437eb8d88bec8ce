#!/usr/bin/env -S uv run
# /// script
# requires-python = ">=3.10"
# dependencies = [
#   "torch==2.8.0+xpu",
#   "numpy<2",
# ]
#
# [[tool.uv.index]]
# url = "https://download.pytorch.org/whl/xpu"
# ///
import torch

print(torch.xpu.is_available())
