"""Negative block sizes pass the check.

fails: ["block_errors[-1x4-v2]"]
also: [block_errors]
"""


def check_block(block):
    if 0 in block:
        raise ValueError("a block size is 0")
    return block
