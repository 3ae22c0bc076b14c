import torch
import torch.nn.functional as F

logits = torch.tensor([[2.0, -1.0, 0.5], [0.1, 0.3, -0.2]])
labels = torch.tensor([0, 2])
temperature = torch.tensor(0.003, requires_grad=True)
optimizer = torch.optim.SGD([temperature], 0.1)

for step in range(3):
    t = torch.clamp(temperature, 0.05, 5.0)
    loss = F.cross_entropy(logits / t, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, float(loss), float(temperature.grad), float(temperature))
