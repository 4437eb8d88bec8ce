"""torch: a product of matrices, a gradient, a small network, and a compiled function where the release can compile."""

import torch

torch.manual_seed(0)
one, other = torch.rand(48, 64, dtype=torch.float64), torch.rand(64, 32, dtype=torch.float64)
wanted = (one.unsqueeze(2) * other.unsqueeze(0)).sum(1)
check("matmul", one.float() @ other.float(), wanted.float(), 1e-5)

weight = torch.rand(8, requires_grad=True)
(weight**3).sum().backward()
check("gradient", weight.grad, 3 * weight.detach() ** 2, 1e-5)

layer = torch.nn.Conv2d(3, 4, 3)
image = torch.rand(2, 3, 9, 9)
patches = torch.nn.functional.unfold(image, 3).transpose(1, 2)
by_hand = (patches @ layer.weight.reshape(4, -1).t() + layer.bias).transpose(1, 2).reshape(2, 4, 7, 7)
check("convolution", layer(image).detach(), by_hand.detach(), 1e-4)

if hasattr(torch, "compile"):

    def function(x):
        return torch.sin(x) ** 2 + torch.cos(x) ** 2 + x * 2

    try:
        compiled = torch.compile(function)
        got = compiled(image)
    except RuntimeError as error:
        text = str(error)
        if "supported" not in text.lower():
            raise
        skip("compile", text)
    else:
        check("compile", got, function(image), 1e-4)
        check("compile gives 1 + 2x", got, 1 + 2 * image, 1e-4)
note("kernels", torch.backends.cpu.get_cpu_capability() if hasattr(torch.backends, "cpu") else "unknown")
