"""The stable list straight from its definition, in loops over dense lists."""

import numpy as np


def nogueira(lists, d):
    """Return the index of Nogueira, Sechidis and Brown (2018) from the 0/1 matrix of the lists."""
    Z = np.zeros((len(lists), d))
    for row, genes in zip(Z, lists, strict=True):
        row[genes] = 1
    share = Z.mean()
    if len(Z) < 2 or share in (0, 1):
        return np.nan
    return 1 - Z.var(axis=0, ddof=1).mean() / (share * (1 - share))


def choose_by_hand(error, standard_error, lists, most, d):
    """Return (tau, lam, mu) and the agreement of the lists that were candidates.

    `error` and `standard_error` are (n_mu, n_tau, n_lam), NaN where lists are too long;
    ``lists[mu][tau]`` holds the list of each inner fold. Numbers that differ by less than rounding
    are equal.
    """
    n_mu, n_tau, n_lam = error.shape
    known = [at for at in np.ndindex(error.shape) if not np.isnan(error[at])]
    agreed = np.full((n_mu, n_tau), np.nan)
    if not known:
        return (0, n_lam - 1, 0), agreed
    best = min(known, key=lambda at: (round(error[at], 12), at))
    bound = round(round(error[best], 12) + standard_error[best], 12)
    places, candidates = [], []
    for mu, tau in np.ndindex(n_mu, n_tau):
        errors = [round(value, 12) for value in error[mu, tau]]
        if np.isnan(errors).any() or min(errors) > bound:
            continue
        lam = max(at for at in range(n_lam) if errors[at] == min(errors))
        size = np.mean([len(genes) for genes in lists[mu][tau]])
        places.append((0.0, size, -lam, mu, tau))
        if 1 <= size <= most:
            agreed[mu, tau] = value = nogueira(lists[mu][tau], d)
            candidates.append((-round(-1 if np.isnan(value) else value, 12), *places[-1][1:]))
    *_, minus_lam, mu, tau = min(candidates or places)
    return (tau, -minus_lam, mu), agreed
