"""dQ grows in a numpy array of N x d, where the meter does not look.

earns: [standard_gradients, standard_traffic, flash_gradients, flash_extremes, flash_traffic, flash_flops, flash_allocation, "flash_on_chip[causal]", flash_block_errors, forward_checkpoints, forward_all_is_differentiable, forward_builds_no_graph, forward_errors, forward_arguments, backward_gradients, backward_round_trip, backward_account, backward_recomputes_once, backward_saves_one_segment, backward_square_root, backward_errors, backward_arguments, public_standard_gradients, public_standard_traffic, public_flash_gradients, public_flash_traffic, public_forward_checkpoints, public_checkpointed_backward]
"""


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    Br, Bc = block
    if Br < 1 or Bc < 1:
        raise ValueError(f"block sizes must be at least 1, got {block}")
    (N, d), dtype = Q.shape, Q.dtype
    scale = 1 / math.sqrt(d)
    D = hbm.empty((N,), dtype=dtype, name="D")
    dQ = hbm.empty((N, d), dtype=dtype, name="dQ")
    kept = torch.zeros(N, d, dtype=dtype).numpy().copy()
    dK = hbm.empty((N, d), dtype=dtype, name="dK")
    dV = hbm.empty((N, d), dtype=dtype, name="dV")

    for i in range(0, N, Br):
        rows = slice(i, min(i + Br, N))
        hbm.write(D[rows], (hbm.read(dO[rows]) * hbm.read(O[rows])).sum(dim=1))

    for j in range(0, N, Bc):
        cols = slice(j, min(j + Bc, N))
        Kj, Vj = hbm.read(K[cols]), hbm.read(V[cols])
        dKj, dVj = torch.zeros_like(Kj), torch.zeros_like(Vj)
        first = j // Br * Br if causal else 0
        for i in range(first, N, Br):
            rows = slice(i, min(i + Br, N))
            Qi, dOi = hbm.read(Q[rows]), hbm.read(dO[rows])
            P = recompute_tile(Qi, Kj, hbm.read(L[rows]), scale, causal, i, j)
            dVj += P.T @ dOi
            dS = P * (dOi @ Vj.T - hbm.read(D[rows])[:, None]) * scale
            dKj += dS.T @ Qi
            kept[rows] += (dS @ Kj).numpy()
        hbm.write(dK[cols], dKj)
        hbm.write(dV[cols], dVj)
    for i in range(0, N, Br):
        rows = slice(i, min(i + Br, N))
        hbm.write(dQ[rows], torch.tensor(kept[rows]))
    return dQ, dK, dV
