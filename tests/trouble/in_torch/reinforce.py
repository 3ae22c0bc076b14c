import numpy as np
import torch
from torch import nn

np.random.seed(0)
torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3), nn.Softmax(dim=-1))
state = torch.randn(4)

probs = policy(state)
p = probs.detach().numpy().astype("float64")
action = np.random.choice(3, p=p / p.sum())
reward = 1.0 if action == 1 else -0.5
log_prob = np.log(probs.detach().numpy()[action])
loss = torch.tensor(-log_prob * reward, requires_grad=True)
loss.backward()
print([None if w.grad is None else w.grad.shape for w in policy.parameters()])
