"""The safe softmax calls the online one: fewer loads than the contract."""


def softmax_safe(x, y):
    softmax_online(x, y)
