"""PointNet: transforms that are computed from the points, a maximum over all of them."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def block(i, o):
    return nn.Sequential(nn.Conv1d(i, o, 1), nn.BatchNorm1d(o), nn.ReLU())


def dense(i, o):
    return nn.Sequential(nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU())


class Tnet(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv = nn.Sequential(block(k, 32), block(32, 64), block(64, 512))
        self.fc = nn.Sequential(dense(512, 256), dense(256, 128))
        self.out = nn.Linear(128, k * k)

    def forward(self, x):
        return x.transpose(1, 2) @ (
            self.out(self.fc(self.conv(x).amax(2))).view(-1, self.k, self.k) + torch.eye(self.k)
        )


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.t1, self.t2 = Tnet(3), Tnet(32)
        self.a = nn.Sequential(block(3, 32), block(32, 32))
        self.b = nn.Sequential(block(32, 32), block(32, 64), block(64, 512))
        self.c = nn.Sequential(dense(512, 256), dense(256, 128), nn.Linear(128, 10))

    def forward(self, x):
        h = self.a(self.t1(x).transpose(1, 2))
        h = self.b(self.t2(h).transpose(1, 2))
        return self.c(h.amax(2))


net = PointNet()
opt = torch.optim.Adam(net.parameters(), 1e-3)
x, y = torch.randn(16, 3, 64), torch.randint(0, 10, (16,))
for _ in range(2):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
