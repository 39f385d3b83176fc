"""Counts the frozen matrix as trainable too.

fails: [lora_parameters]
also: [public_lora]
says: The matrix itself stays frozen.
"""


def lora_parameters(layers, projections, d_model, rank):
    return layers * projections * (d_model**2 + 2 * d_model * rank)
