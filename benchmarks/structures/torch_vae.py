"""A variational autoencoder with transposed convolutions."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, 32, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, 2, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(64 * 49, 16),
            nn.ReLU(),
        )
        self.mu, self.lv = nn.Linear(16, 2), nn.Linear(16, 2)
        self.dec = nn.Sequential(
            nn.Linear(2, 64 * 49),
            nn.ReLU(),
            nn.Unflatten(1, (64, 7, 7)),
            nn.ConvTranspose2d(64, 64, 3, 2, 1, 1),
            nn.ReLU(),
            nn.ConvTranspose2d(64, 32, 3, 2, 1, 1),
            nn.ReLU(),
            nn.ConvTranspose2d(32, 1, 3, 1, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        h = self.enc(x)
        m, v = self.mu(h), self.lv(h)
        return self.dec(m + torch.exp(0.5 * v) * torch.randn_like(m)), m, v


net = Vae()
opt = torch.optim.Adam(net.parameters(), 1e-3)
x = torch.rand(32, 1, 28, 28)
for _ in range(3):
    y, m, v = net(x)
    loss = F.binary_cross_entropy(y, x, reduction="sum") / 32 - 0.5 * (1 + v - m**2 - v.exp()).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
