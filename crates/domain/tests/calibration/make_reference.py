"""Writes reference.json: what scikit-learn, SciPy and the krippendorff package say of recorded and drawn scores.

    pip install scikit-learn scipy krippendorff     (1.9.1, 1.17.1 and 0.9.0 wrote what is committed)
    python make_reference.py > reference.json
"""

import json
import random

import krippendorff
import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score, confusion_matrix

ANCHORS = [0, 3, 6, 9, 10]
random.seed(1960)


def band(score):
    return min(range(5), key=lambda i: abs(ANCHORS[i] - score))


def number(value):
    return None if np.isnan(value) else float(value)


def agreement(pairs):
    human, judge = [h for h, _ in pairs], [j for _, j in pairs]
    bands = [band(h) for h in human], [band(j) for j in judge]
    return {
        "pairs": pairs,
        "human_mean": float(np.mean(human)),
        "judge_mean": float(np.mean(judge)),
        "mean_absolute_error": float(np.mean(np.abs(np.array(human) - np.array(judge)))),
        "spearman": number(spearmanr(human, judge).statistic) if len(pairs) > 1 else None,
        "weighted_kappa": number(cohen_kappa_score(human, judge, weights="quadratic", labels=range(11))),
        "band_kappa": number(cohen_kappa_score(*bands, labels=range(5))),
        "bands": confusion_matrix(*bands, labels=range(5)).tolist(),
        "slope": float(np.polyfit(judge, human, 1)[0]) if len(set(judge)) > 1 else None,
    }


def drawn(n, noise, harshness):
    human = [min(10, max(0, round(random.gauss(6, 2.5)))) for _ in range(n)]
    return [(h, min(10, max(0, round(h - harshness + random.gauss(0, noise))))) for h in human]


def alpha(units):
    rows = [[np.nan if v is None else v for v in unit] for unit in units]
    value = krippendorff.alpha(np.array(rows, dtype=float).T, level_of_measurement="interval")
    return {"units": units, "alpha": number(value)}


def panel(units, raters, noise):
    def unit():
        truth = random.uniform(0, 10)
        return [None if random.random() < 0.2 else round(truth + random.gauss(0, noise), 2) for _ in range(raters)]

    return [unit() for _ in range(units)]


# Four observers, twelve units: the example of Krippendorff 2011, section C, whose alpha for interval data is 0.849.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]

print(
    json.dumps(
        {
            "agreement": [
                agreement([(7, 8), (3, 3)]),
                agreement([(10, 8), (9, 8), (2, 8)]),
                *(agreement(drawn(n, noise, harsh)) for n in (5, 19, 20, 60, 300) for noise, harsh in ((0.6, 0), (2, 1.5), (6, -2))),
            ],
            "alpha": [
                alpha([list(unit) for unit in zip(*PUBLISHED)]),
                *(alpha(panel(n, raters, noise)) for n, raters in ((4, 2), (30, 3), (80, 7)) for noise in (0.5, 3)),
            ],
        }
    )
)
