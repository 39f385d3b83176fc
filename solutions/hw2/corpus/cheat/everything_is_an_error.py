"""Every function raises ValueError, which is right for bad arguments only."""


def refuse(*args, **kwargs):
    raise ValueError("block")


standard_attention = flash_attention_v1 = flash_attention_v2 = io_formula = block_sizes = refuse
