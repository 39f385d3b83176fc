"""Block sizes are not checked.

fails: ["block_errors[block1-v2]", public_block_errors]
also: [block_errors]
"""


def check_block(block):
    return block
