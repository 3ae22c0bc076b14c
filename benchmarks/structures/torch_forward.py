"""The forward-forward algorithm: every layer has a loss and an optimizer of its own."""

import torch
from torch import nn

torch.manual_seed(0)


class Layer(nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o)
        self.opt = torch.optim.Adam(self.parameters(), 0.03)

    def forward(self, x):
        return torch.relu((x / (x.norm(2, 1, keepdim=True) + 1e-4)) @ self.weight.T + self.bias)

    def train_step(self, p, n):
        gp, gn = self.forward(p).pow(2).mean(1), self.forward(n).pow(2).mean(1)
        loss = torch.log(1 + torch.exp(torch.cat([-gp + 2, gn - 2]))).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return self.forward(p).detach(), self.forward(n).detach()


layers = [Layer(784, 500), Layer(500, 500)]
p, n = torch.rand(256, 784), torch.rand(256, 784)
for _ in range(2):
    a, b = p, n
    for layer in layers:
        a, b = layer.train_step(a, b)
