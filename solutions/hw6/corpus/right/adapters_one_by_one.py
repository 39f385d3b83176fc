"""The adapters are counted one by one, layer after layer."""


def lora_parameters(layers, projections, d_model, rank):
    total = 0
    for _ in range(layers):
        for shape in [(rank, d_model), (d_model, rank)] * projections:
            total += shape[0] * shape[1]
    return total
