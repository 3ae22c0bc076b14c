import torch
from torch import nn

torch.manual_seed(0)


def loss_fn(y_true, y_pred):
    ratio = torch.where(y_true > 0, y_pred / y_true, torch.zeros_like(y_pred))
    size = torch.where(y_pred > 0, torch.log(y_pred), torch.zeros_like(y_pred))
    return torch.mean((ratio - 1.0) ** 2 + 0.1 * size**2)


model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1), nn.ReLU())
optimizer = torch.optim.SGD(model.parameters(), 0.01)
x = torch.rand(8, 3)
y = torch.tensor([0.0, 1.5] * 4)[:, None]
for epoch in range(1):
    loss = loss_fn(y, model(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, float(loss))
