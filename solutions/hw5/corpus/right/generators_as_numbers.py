"""Generator states are lists of numbers, the vocabulary one string, names are other ones."""

_KEYS = {"weights", "architecture", "adamw", "steps_done", "plan", "generators", "words", "sha256", "version"}


def _contents(model, optimizer, sampler, completed, data, plan):
    return {
        "weights": {name: t.clone() for name, t in model.named_parameters()},
        "architecture": model.config,
        "adamw": optimizer.state_dict(),
        "steps_done": torch.tensor(completed),
        "plan": [(f, getattr(plan, f)) for f in plan.__dataclass_fields__],
        "generators": [sampler.get_state().tolist(), torch.get_rng_state().tolist()],
        "words": "\n".join(data.vocab),
        "sha256": data.fingerprint,
        "version": str(torch.__version__),
    }


def _refuse_others(contents, data, plan):
    problems = []
    if contents["version"] != torch.__version__:
        problems.append(f"written by torch {contents['version']}, this is torch {torch.__version__}")
    if contents["words"] != "\n".join(data.vocab):
        ours, theirs = list(data.vocab), contents["words"].split("\n")
        problems.append(f"vocabulary of {len(theirs)} words ({theirs[-3:]}), here {len(ours)} words ({ours[-3:]})")
    if contents["sha256"] != data.fingerprint:
        problems.append(f"data {contents['sha256'][:12]}..., here {data.fingerprint[:12]}...")
    for field, value in contents["plan"]:
        if getattr(plan, field) != value:
            problems.append(f"plan: {field} was {value:g}, is now {getattr(plan, field):g}")
    if problems:
        raise ValueError("this checkpoint belongs to another run: " + "; ".join(problems))


def _rebuild(contents, plan):
    here = torch.random.get_rng_state()
    model = DropoutLanguageModel(**contents["architecture"]).to(torch.float64)
    torch.random.set_rng_state(here)
    model.load_state_dict(contents["weights"], assign=False)
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(contents["adamw"])
    sampler = torch.Generator(device="cpu")
    own, common = (torch.tensor(state, dtype=torch.uint8) for state in contents["generators"])
    sampler.set_state(own)
    torch.set_rng_state(common)
    return [model, optimizer, sampler, int(contents["steps_done"])]
