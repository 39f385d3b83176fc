"""Every row of O is the mean of V, which is right when all keys are equal.

earns: [standard_values, standard_probabilities, standard_counts, v1_values, v1_statistics, v1_counts, v1_causal_counts, block_sizes, formula, unknown_kind, public_block_sizes, public_formula, "flops[full-standard]", "flops[causal-standard]", "flops[full-v1]", "flops[causal-v1]", "on_chip[square-v1]", "on_chip[rectangular-v1]", "on_chip[causal-v1]", "allocation[full-v1]", "allocation[causal-v1]", "public_uniform[ragged-standard]", "public_uniform[causal-standard]", "public_uniform[ragged-v1]", "public_uniform[causal-v1]", "public_lookup[hot-standard]", "public_lookup[hot-v1]", "public_counts[square-standard]", "public_counts[square-v1]", "public_counts[rectangular-standard]", "public_counts[rectangular-v1]", "public_block_errors[v1]", "block_errors[0x4-v1]", "block_errors[4x0-v1]", "block_errors[-1x4-v1]", "block_errors[4x-3-v1]", "public_counts[square-v2]", "public_counts[rectangular-v2]", "v2_values[float32-constant]", "v2_values[float64-constant]", "public_block_errors[v2]", "block_errors[0x4-v2]", "block_errors[4x0-v2]"]
"""


def flash_attention_v2(hbm, Q, K, V, *, block, causal=False):
    N, d = Q.shape
    O, L = hbm.empty((N, d), dtype=Q.dtype), hbm.empty((N,), dtype=Q.dtype)
    total = sum(hbm.read(V[slice(*cols)]).sum(dim=0) for cols in blocks(N, block[1]))
    for rows in blocks(N, block[0]):
        hbm.write(O[slice(*rows)], (total / N).expand(len(range(*rows)), d))
    return O, L
