"""Graph attention: several heads, attention over neighbours only."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
N, D, H = 300, 64, 8


class Head(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.w = nn.Linear(i, o, bias=False)
        self.a = nn.Parameter(torch.randn(2 * o) * 0.1)
        self.o = o

    def forward(self, x, adj):
        h = self.w(x)
        e = F.leaky_relu((h @ self.a[: self.o])[:, None] + (h @ self.a[self.o :])[None, :], 0.2)
        return torch.softmax(torch.where(adj > 0, e, torch.tensor(-9e15)), 1) @ h


class Gat(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(Head(D, 8) for _ in range(H))
        self.out = Head(8 * H, 7)

    def forward(self, x, adj):
        return F.log_softmax(F.elu(self.out(torch.cat([F.elu(h(x, adj)) for h in self.heads], 1), adj)), 1)


x = torch.rand(N, D)
adj = (torch.rand(N, N) < 0.02).float() + torch.eye(N)
y = torch.randint(0, 7, (N,))
net = Gat()
opt = torch.optim.Adam(net.parameters(), 5e-3)
for _ in range(3):
    opt.zero_grad()
    F.nll_loss(net(x, adj), y).backward()
    opt.step()
