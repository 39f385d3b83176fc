"""Verdicts as a tuple, implied tokens only where they are asked for, relative error as a quotient."""


def reconcile(rows, bytes_per_token, tolerance=0.1):
    def verdicts():
        for row in rows:
            if row.reported < row.static:
                tokens = 0 if row.tokens is None else row.tokens
                yield Verdict(row.name, "impossible", row.reported - row.static - bytes_per_token * tokens * row.batch)
            elif row.tokens is None:
                above = row.reported - row.static
                yield Verdict(row.name, "open", above, above / bytes_per_token / row.batch)
            else:
                residue = row.reported - row.static - bytes_per_token * row.tokens * row.batch
                close = abs(residue) / row.reported <= tolerance
                yield Verdict(name=row.name, label="explained" if close else "unexplained", residue=float(residue))

    return tuple(verdicts())
