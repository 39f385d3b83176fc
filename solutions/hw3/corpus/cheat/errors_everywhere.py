"""Everything raises ValueError, so that checks of errors might pass.

earns: []
standalone: true
"""

import math

import torch


def standard_attention_backward(*args, **kwargs):
    raise ValueError("block sizes must be at least 1")


def flash_attention_backward(*args, **kwargs):
    raise ValueError("block sizes must be at least 1")


def mlp_stack_forward(*args, **kwargs):
    raise ValueError("keep must be at least 1")


def checkpointed_backward(*args, **kwargs):
    raise ValueError("k must be at least 1")
