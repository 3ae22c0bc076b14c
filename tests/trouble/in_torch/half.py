import torch
from torch import nn

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(8, 32, bias=False), nn.ReLU(), nn.Linear(32, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
x = torch.randn(64, 8) * 1e-3
y = 1e-4 * torch.randn(64, 1)

for step in range(2):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = torch.mean((model(x) - y).float() ** 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, float(loss), [float(w.grad.abs().max()) for w in model.parameters()])
