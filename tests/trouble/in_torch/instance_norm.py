import torch

torch.manual_seed(1)
image = (torch.full([1, 8, 8], 200.0) + 1e-3 * torch.randn(1, 8, 8)).requires_grad_()
scale = torch.tensor(1.0, requires_grad=True)

mean = image.mean(dim=(1, 2), keepdim=True)
mean_of_squares = (image**2).mean(dim=(1, 2), keepdim=True)
variance = mean_of_squares - mean**2
normed = scale * (image - mean) / torch.sqrt(variance + 1e-5)
loss = (normed**3).sum()
loss.backward()
print(float(scale.grad), float(image.grad.norm()))
