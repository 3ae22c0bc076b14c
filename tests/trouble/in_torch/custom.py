import torch


class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x / (1.0 + x.abs())

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 1.0 / (1.0 + x.abs()) ** 2


w = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
loss = (3.0 * Squash.apply(w)).sum()
loss.backward()
print(w.grad)
