"""Block sizes are checked by an assertion.

fails: [block_errors, public_block_errors]
"""


def check_block(block):
    assert min(block) >= 1
    return block
