import torch

w = torch.tensor([1.0, -2.0], requires_grad=True)
target = torch.tensor([0.5, 0.5])
for step in range(3):
    loss = ((w - target) ** 2).sum()
    loss.backward()
    print(step, float(loss), w.grad)
    w = w - 0.1 * w.grad
