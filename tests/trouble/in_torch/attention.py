import torch

torch.manual_seed(5)
wq, wk, wv = (torch.nn.Parameter(torch.randn(8, 8) * 3.0) for _ in range(3))
x = torch.randn(6, 8)


def softmax(scores):
    e = torch.exp(scores)
    return e / e.sum(dim=-1, keepdim=True)


q, k, v = x @ wq, x @ wk, x @ wv
weights = softmax(q @ k.T)
loss = torch.mean((weights @ v) ** 2)
loss.backward()
print([float(w.grad.norm()) for w in (wq, wk, wv)])
