"""The static table filled in another order, the adapters counted one by one."""

from collections import Counter


def lora_parameters(layers, projections, d_model, rank):
    shapes = [(rank, d_model), (d_model, rank)]
    return sum(rows * columns for rows, columns in shapes) * projections * layers


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    table = Counter()
    for count, costs in (
        (trainable, dict(master=master, optimizer=state, grads=grad, weights=weight)),
        (frozen, dict(weights=weight)),
    ):
        for part, cost in costs.items():
            table[part] += count * cost
    return dict(total=sum(table.values()), **table)
