"""Block sizes are not checked.

fails: ["block_errors[block2-v2]"]
also: [block_errors]
"""


def check_block(block):
    return block
