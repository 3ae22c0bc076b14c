"""A Wasserstein GAN with gradient penalty: a gradient inside the loss."""

import torch
from torch import nn

torch.manual_seed(0)
gen = nn.Sequential(
    nn.Linear(100, 128),
    nn.LeakyReLU(0.2),
    nn.Linear(128, 256),
    nn.BatchNorm1d(256),
    nn.LeakyReLU(0.2),
    nn.Linear(256, 784),
    nn.Tanh(),
)
critic = nn.Sequential(
    nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1)
)
og, oc = (torch.optim.Adam(n.parameters(), 2e-4, betas=(0.5, 0.999)) for n in (gen, critic))
real = torch.rand(64, 784) * 2 - 1
for _ in range(3):
    fake = gen(torch.randn(64, 100)).detach()
    alpha = torch.rand(64, 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    slope = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
    oc.zero_grad()
    (critic(fake).mean() - critic(real).mean() + 10 * penalty).backward()
    oc.step()
    og.zero_grad()
    (-critic(gen(torch.randn(64, 100))).mean()).backward()
    og.step()
