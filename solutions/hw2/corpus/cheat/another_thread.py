"""The kernel computes everything twice, in a thread that the meter does not follow.

earns: [standard_values, standard_probabilities, standard_counts, v1_values, v1_statistics, v1_counts, v1_causal_counts, block_sizes, formula, unknown_kind, public_block_sizes, public_formula, "flops[full-standard]", "flops[causal-standard]", "flops[full-v1]", "flops[causal-v1]", "on_chip[square-v1]", "on_chip[rectangular-v1]", "on_chip[causal-v1]", "allocation[full-v1]", "allocation[causal-v1]", "public_uniform[ragged-standard]", "public_uniform[causal-standard]", "public_uniform[ragged-v1]", "public_uniform[causal-v1]", "public_lookup[hot-standard]", "public_lookup[hot-v1]", "public_counts[square-standard]", "public_counts[square-v1]", "public_counts[rectangular-standard]", "public_counts[rectangular-v1]", "public_block_errors[v1]", "block_errors[0x4-v1]", "block_errors[4x0-v1]", "block_errors[-1x4-v1]", "block_errors[4x-3-v1]", v2_values, v2_logsumexp, "public_uniform[ragged-v2]", "public_uniform[causal-v2]", "public_lookup[hot-v2]", "allocation[full-v2]", "allocation[causal-v2]", block_errors, public_block_errors]
"""

from concurrent.futures import ThreadPoolExecutor

wasteful = flash_attention_v2


def flash_attention_v2(hbm, Q, K, V, *, block, causal=False):
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            result = pool.submit(wasteful, hbm, Q, K, V, block=block, causal=causal).result()
        return result
