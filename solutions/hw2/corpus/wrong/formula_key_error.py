"""An unknown kind raises KeyError.

fails: [unknown_kind]
"""

formulas = {"standard": io_formula, "v1": io_formula, "v2": io_formula}
known = io_formula


def io_formula(kind, N, d, Br=None, Bc=None):
    formulas[kind]
    return known(kind, N, d, Br, Bc)
