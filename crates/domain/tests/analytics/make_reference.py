"""Writes reference.json: what NumPy, SciPy and statsmodels say of drawn scores and rates.

    pip install numpy scipy statsmodels     (versions that wrote what is committed stand in reference.json)
    python make_reference.py > reference.json
"""

import json
import warnings

import numpy as np
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

warnings.simplefilter("ignore")
rng = np.random.default_rng(1908)


def number(value):
    return None if value is None or not np.isfinite(value) else float(value)


def drawn(n, mean, spread):
    return [int(v) for v in np.clip(np.round(rng.normal(mean, spread, n)), 0, 10)]


def distribution(values):
    return {
        "values": values,
        "mean": float(np.mean(values)),
        "deviation": number(np.std(values, ddof=1)) if len(values) > 1 else None,
        "quantiles": [float(q) for q in np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])],
    }


def correlation(one, other):
    return {
        "one": one,
        "other": other,
        "pearson": number(stats.pearsonr(one, other).statistic),
        "spearman": number(stats.spearmanr(one, other).statistic),
    }


def means(one, other):
    welch = stats.ttest_ind(other, one, equal_var=False).confidence_interval(0.95)
    pooled = np.sqrt(
        ((len(one) - 1) * np.var(one, ddof=1) + (len(other) - 1) * np.var(other, ddof=1)) / (len(one) + len(other) - 2)
    )
    correction = 1 - 3 / (4 * (len(one) + len(other) - 2) - 1)
    return {
        "one": one,
        "other": other,
        "difference": float(np.mean(other) - np.mean(one)),
        "low": number(welch.low),
        "high": number(welch.high),
        "effect": number((np.mean(other) - np.mean(one)) / pooled * correction) if pooled > 0 else None,
    }


def rates(a, of_a, b, of_b):
    low, high = proportion_confint(a, of_a, 0.05, "wilson")
    gap = confint_proportions_2indep(b, of_b, a, of_a, method="newcomb", compare="diff", alpha=0.05)
    return {"one": [a, of_a], "other": [b, of_b], "low": float(low), "high": float(high),
            "gap_low": float(gap[0]), "gap_high": float(gap[1])}


def together(n, noise):
    one = drawn(n, 6, 2.5)
    return correlation(one, [int(v) for v in np.clip(np.round(np.array(one) + rng.normal(0, noise, n)), 0, 10)])


print(json.dumps({
    "versions": {"numpy": np.__version__, "scipy": scipy.__version__, "statsmodels": statsmodels.__version__},
    "distributions": [distribution(v) for v in [[7], [0, 10], [3, 3, 3], drawn(10, 5, 3), drawn(101, 8, 1), drawn(400, 6, 4)]],
    "correlations": [together(*a) for a in [(5, 1), (30, 0.5), (200, 3), (400, 10)]] + [correlation([1, 2, 3], [4, 4, 4])],
    "means": [means(drawn(*a), drawn(*b)) for a, b in [((3, 5, 3), (4, 6, 2)), ((40, 6, 2), (25, 7, 1)),
              ((300, 6, 2), (10, 5, 4)), ((400, 7, 1), (400, 7, 1)), ((2, 1, 1), (300, 9, 1))]],
    "rates": [rates(*r) for r in [(0, 10, 3, 12), (56, 70, 48, 80), (9, 10, 3, 10), (0, 10, 0, 20), (10, 10, 10, 20),
              (512, 1000, 498, 990), (1, 1, 1, 1)]],
    "student": [[freedom, float(stats.t.ppf(0.975, freedom))] for freedom in [1, 1.5, 2, 3.7, 10, 29, 30.25, 120, 1e4, 2e6]],
}, indent=None, separators=(",", ":")))
