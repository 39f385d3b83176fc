"""Computes in floating point and rounds at the end.

fails: ["lora_parameters[huge]"]
says: Floats are exact up to 2^53 only, stay in integers.
"""


def lora_parameters(layers, projections, d_model, rank):
    return int(2.0 * layers * projections * d_model * rank)
