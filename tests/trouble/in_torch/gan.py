import torch
from torch import nn

torch.manual_seed(1)
generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
discriminator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer_d = torch.optim.Adam(discriminator.parameters(), 0.01)
real = torch.randn(16, 2) * 0.1 + 40.0

for step in range(1):
    fake = generator(torch.randn(16, 4) * 2000.0).detach()
    p_real = torch.sigmoid(discriminator(real))
    p_fake = torch.sigmoid(discriminator(fake))
    loss = -torch.mean(torch.log(p_real) + torch.log(1.0 - p_fake))
    optimizer_d.zero_grad()
    loss.backward()
    optimizer_d.step()
    print(step, float(loss))
