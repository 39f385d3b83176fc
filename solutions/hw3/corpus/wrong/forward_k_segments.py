"""keep is taken for the number of segments.

fails: ["forward_checkpoints[even]", "forward_checkpoints[one-segment]"]
also: [forward_checkpoints, public_forward_checkpoints, backward_round_trip]
says: k is the length of a segment, not their number.
"""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    every = keep if keep == "all" else -(-len(weights) // keep)
    h, checkpoints = x, []
    with torch.set_grad_enabled(keep == "all"):
        for layer, W in enumerate(weights):
            if keep != "all" and layer % every == 0:
                checkpoints.append(h)
            h = torch.tanh(h @ W)
    return h, checkpoints
