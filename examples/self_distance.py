"""NaN from a distance of 0: every point is also compared with itself.

Springs that keep the points of a drawing one unit apart. Each point is at distance 0 from itself, where the
square root has an infinite slope. These springs are multiplied by 0, and 0 times infinity is NaN: the loss is
right, and no point moves.
"""

import torch

points = torch.tensor([[0.0, 0.0], [1.0, 0.2], [0.4, 0.9]], requires_grad=True)
others = 1.0 - torch.eye(3)

apart = points[:, None, :] - points[None, :, :]
distance = torch.sqrt((apart**2).sum(dim=-1))
loss = (others * (distance - 1.0) ** 2).sum()
loss.backward()

print("loss    ", loss.item())
print("gradient", points.grad)
