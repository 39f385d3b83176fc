"""Counts one of the two factors.

fails: [lora_parameters]
also: [public_lora]
says: An adapter has two factors, A and B.
"""


def lora_parameters(layers, projections, d_model, rank):
    return layers * projections * d_model * rank
