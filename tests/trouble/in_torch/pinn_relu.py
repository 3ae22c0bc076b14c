import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
x = torch.linspace(0.05, 0.95, 10).reshape(10, 1).requires_grad_()

u = net(x)
(u_x,) = torch.autograd.grad(u.sum(), x, create_graph=True)
(u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
loss = torch.mean((u_xx + torch.sin(x)) ** 2)
loss.backward()
print("u_xx", u_xx.detach().numpy().ravel()[:3], "loss", float(loss))
print([None if w.grad is None else float(w.grad.norm()) for w in net.parameters()])
