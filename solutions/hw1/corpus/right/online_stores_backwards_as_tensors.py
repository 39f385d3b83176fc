"""Results are torch scalars, some with a gradient, stored from the back."""


def softmax_online(x, y):
    row = torch.tensor([float(x.load(j)) for j in range(len(x))], dtype=torch.float64, requires_grad=True)
    p = torch.softmax(row, dim=0)
    for i in reversed(range(len(x))):
        y.store(i, p[i])
