"""Looks a state up per parameter, and walks whatever is nested in it."""


def optimizer_state_bytes(optimizer):
    def size(value):
        if isinstance(value, torch.Tensor):
            return value.nbytes
        if isinstance(value, dict):
            return sum(map(size, value.values()))
        if isinstance(value, (list, tuple)):
            return sum(map(size, value))
        return 0

    return sum(size(optimizer.state[p]) for group in optimizer.param_groups for p in group["params"])
