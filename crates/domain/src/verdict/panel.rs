//! Several judges of one conversation: their median, and how far they agree.

use super::{Score, Verdict};

impl Verdict {
    /// What several judges say together: of each score the median (the lower one of two in the middle, so that a tie is
    /// never a reason to accept), and the goal is achieved if more than half of them say so. Words are those of the
    /// first judge who gave the score. One verdict stands for itself; `None` if there is none.
    pub fn of_panel(verdicts: &[Self]) -> Option<Self> {
        let (first, others) = verdicts.split_first()?;
        if others.is_empty() {
            return Some(first.clone());
        }
        let scores = first.scores.iter().map(|score| median_of(&score.criterion, verdicts)).collect::<Option<_>>()?;
        let overall = median(verdicts.iter().map(|v| v.overall))?;
        let speaker = verdicts.iter().find(|v| v.overall == overall)?;
        let achieved = verdicts.iter().filter(|v| v.goal_achieved).count();
        let mut means: Vec<f64> = verdicts.iter().map(|v| v.weighted_mean).collect();
        means.sort_by(f64::total_cmp);
        Some(Self {
            judge: first.judge.clone(),
            scores,
            overall,
            rationale: speaker.rationale.clone(),
            goal_achieved: achieved * 2 > verdicts.len(),
            weighted_mean: means[(means.len() - 1) / 2],
            panel: verdicts.to_vec(),
        })
    }

    /// How far a panel agrees, from 0 (scores of 0 beside scores of 10) to 1: one minus the mean distance between two
    /// of its judges, over all criteria, as a share of the scale. `None` without a panel.
    pub fn agreement(&self) -> Option<f64> {
        let mut distances = Vec::new();
        for (i, one) in self.panel.iter().enumerate() {
            for other in &self.panel[i + 1..] {
                let both = one.scores.iter().filter_map(|s| Some((s.score, other.score(&s.criterion)?)));
                distances.extend(both.map(|(a, b)| f64::from(a.abs_diff(b)) / 10.0));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a handful of criteria")]
        let n = distances.len() as f64;
        (!distances.is_empty()).then(|| 1.0 - distances.iter().sum::<f64>() / n)
    }

    /// The lowest and the highest score that a panel gave a criterion.
    pub fn range(&self, criterion: &str) -> Option<(u8, u8)> {
        let given = || self.panel.iter().filter_map(|v| v.score(criterion));
        Some((given().min()?, given().max()?))
    }

    pub fn score(&self, criterion: &str) -> Option<u8> {
        self.scores.iter().find(|score| score.criterion == criterion).map(|score| score.score)
    }
}

fn median_of(criterion: &str, verdicts: &[Verdict]) -> Option<Score> {
    let given = || verdicts.iter().flat_map(|v| v.scores.iter().filter(|score| score.criterion == criterion));
    let middle = median(given().map(|score| score.score))?;
    given().find(|score| score.score == middle).cloned()
}

fn median(scores: impl Iterator<Item = u8>) -> Option<u8> {
    let mut scores: Vec<u8> = scores.collect();
    scores.sort_unstable();
    scores.get(scores.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(goal: u8, tone: u8, overall: u8, goal_achieved: bool) -> Verdict {
        let score =
            |criterion: &str, score| Score { criterion: criterion.into(), score, rationale: format!("a {score}") };
        Verdict {
            judge: "default".into(),
            scores: vec![score("goal", goal), score("tone", tone)],
            overall,
            rationale: format!("overall {overall}"),
            goal_achieved,
            weighted_mean: f64::midpoint(goal.into(), tone.into()),
            panel: Vec::new(),
        }
    }

    #[test]
    fn a_panel_says_the_median_and_how_far_it_agrees() {
        let panel = [verdict(9, 6, 9, true), verdict(3, 8, 4, false), verdict(8, 6, 7, true)];
        let together = Verdict::of_panel(&panel).expect("three judges");
        assert_eq!((together.score("goal"), together.score("tone"), together.overall), (Some(8), Some(6), 7));
        assert_eq!((together.rationale.as_str(), together.goal_achieved), ("overall 7", true));
        assert_eq!(together.range("goal"), Some((3, 9)));
        // Distances: goal 6, 1, 5; tone 2, 0, 2.
        assert!((together.agreement().expect("a panel") - (1.0 - 1.6 / 6.0)).abs() < 1e-9);
    }

    #[test]
    fn a_tie_is_no_reason_to_accept() {
        let together = Verdict::of_panel(&[verdict(9, 9, 9, true), verdict(5, 9, 6, false)]).expect("two judges");
        assert_eq!((together.overall, together.score("goal"), together.goal_achieved), (6, Some(5), false));
    }

    #[test]
    fn one_judge_is_no_panel() {
        let alone = Verdict::of_panel(&[verdict(9, 9, 9, true)]).expect("one judge");
        assert_eq!((alone.panel.len(), alone.agreement()), (0, None));
        assert_eq!(Verdict::of_panel(&[]), None);
    }
}
