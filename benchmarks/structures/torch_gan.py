"""A GAN with transposed convolutions, discriminator and generator in turns."""

import torch
from torch import nn

torch.manual_seed(0)
gen = nn.Sequential(
    nn.Linear(64, 7 * 7 * 64),
    nn.Unflatten(1, (64, 7, 7)),
    nn.ConvTranspose2d(64, 64, 4, 2, 1),
    nn.BatchNorm2d(64),
    nn.LeakyReLU(0.2),
    nn.ConvTranspose2d(64, 1, 4, 2, 1),
    nn.Sigmoid(),
)
dis = nn.Sequential(
    nn.Conv2d(1, 32, 3, 2, 1),
    nn.LeakyReLU(0.2),
    nn.Conv2d(32, 64, 3, 2, 1),
    nn.LeakyReLU(0.2),
    nn.Flatten(),
    nn.Dropout(0.2),
    nn.Linear(64 * 49, 1),
)
og, od = (torch.optim.Adam(n.parameters(), 3e-4) for n in (gen, dis))
bce, real = nn.BCEWithLogitsLoss(), torch.rand(32, 1, 28, 28)
for _ in range(3):
    fake = gen(torch.randn(32, 64)).detach()
    labels = torch.cat([torch.ones(32, 1), torch.zeros(32, 1)]) + 0.05 * torch.rand(64, 1)
    od.zero_grad()
    bce(dis(torch.cat([fake, real])), labels).backward()
    od.step()
    og.zero_grad()
    bce(dis(gen(torch.randn(32, 64))), torch.zeros(32, 1)).backward()
    og.step()
