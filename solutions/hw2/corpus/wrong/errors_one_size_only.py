"""Only Br is checked.

fails: ["block_errors[block1-v1]", public_block_errors]
also: [block_errors]
"""


def check_block(block):
    if block[0] < 1:
        raise ValueError("Br is below 1")
    return block
