"""Twice the gradient in step two: PyTorch adds to what is there.

`backward` adds to `.grad` and never clears it. Without `optimizer.zero_grad()` the second step moves by the
sum of two gradients, the third by three. The loss still falls at first, so that it looks like a learning rate
that is too large.
"""

import torch

days = torch.tensor([1.0, 2.0, 3.0, 4.0])
sales = torch.tensor([2.1, 3.9, 6.2, 7.8])
rate = torch.tensor(0.5, requires_grad=True)
optimizer = torch.optim.SGD([rate], lr=0.01)

for step in range(3):
    loss = ((rate * days - sales) ** 2).mean()
    loss.backward()
    optimizer.step()
    print("step", step, "gradient", rate.grad.item())
