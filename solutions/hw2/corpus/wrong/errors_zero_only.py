"""Negative block sizes pass the check.

fails: ["block_errors[block2-v2]"]
also: [block_errors]
"""


def check_block(block):
    if 0 in block:
        raise ValueError("a block size is 0")
    return block
