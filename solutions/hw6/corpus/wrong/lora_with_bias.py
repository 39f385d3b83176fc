"""Adds a bias to each factor.

fails: [lora_parameters]
also: [public_lora]
says: The factors have no bias.
"""


def lora_parameters(layers, projections, d_model, rank):
    return layers * projections * (2 * d_model * rank + d_model + rank)
