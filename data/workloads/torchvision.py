"""torchvision: operators in native code (boxes, regions), and an image written and read again."""

import torch
import torchvision

boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [21, 20, 31, 30], [50, 50, 60, 60]])
scores = torch.tensor([0.9, 0.8, 0.7, 0.95, 0.1])
check("nms", torchvision.ops.nms(boxes, scores, 0.5), torch.tensor([3, 0, 4]))
plane = torch.arange(64.0).reshape(1, 1, 8, 8)
region = torch.tensor([[0.0, 2, 2, 6, 6]])
got = torchvision.ops.roi_align(plane, region, output_size=1, aligned=True)
check("roi_align", got, torch.tensor([[[[31.5]]]]), 1e-5)
picture = (torch.arange(3 * 8 * 8) % 251).to(torch.uint8).reshape(3, 8, 8)
try:
    from torchvision.io import decode_png, encode_png
except ImportError as error:
    skip("png", error)
else:
    check("png", decode_png(encode_png(picture)).int(), picture.int())
