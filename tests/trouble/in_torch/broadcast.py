import torch
from torch import nn

torch.manual_seed(6)
x = torch.randn(32, 3)
y = (x * torch.tensor([1.0, -2.0, 0.5])).sum(dim=1)
model = nn.Linear(3, 1)
prediction = model(x)
loss = torch.mean((prediction - y) ** 2)
loss.backward()
print(float(loss), [w.grad.numpy().ravel() for w in model.parameters()])
