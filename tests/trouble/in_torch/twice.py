import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
x = torch.tensor([3.0, -1.0])
y = (w * x).sum() + b
loss = y**2
dw = torch.autograd.grad(loss, w)
db = torch.autograd.grad(loss, b)
print(dw, db)
