"""Block sizes are not checked.

fails: ["block_errors[-1x4-v2]"]
also: [block_errors]
"""


def check_block(block):
    return block
