//! Which conversations become pairs. The same source always gives the same pairs.

use std::collections::{BTreeMap, HashMap};

use domain::export::PairReport;

use store::material::RowCandidate;

/// A conversation, as far as choosing needs it.
pub struct Candidate {
    pub wanted: RowCandidate,
    /// 0 to 10.
    pub score: f64,
    /// Of the agent, in order.
    pub turns: Vec<Turn>,
}

/// Hashes of all that the agent had heard, and of what it said next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    pub heard: u128,
    pub said: u128,
}

/// Pairs of conversations, the better one first. Each conversation is in one pair at most; where agents part, the best is
/// paired with the worst, then the next.
pub fn pairs(candidates: &[Candidate], margin: f64) -> (Vec<[RowCandidate; 2]>, PairReport) {
    let mut partings: Vec<Vec<(usize, u128)>> = partings(candidates);
    let far = |winner: usize, loser: usize| {
        let by = candidates[winner].score - candidates[loser].score;
        by > 0.0 && by >= margin
    };
    let mut fates = vec![PairingOutcome::Alone; candidates.len()];
    let mut chosen = Vec::new();
    for parting in &mut partings {
        let order = |(a, _): &(usize, u128), (b, _): &(usize, u128)| {
            candidates[*b].score.total_cmp(&candidates[*a].score).then(a.cmp(b))
        };
        parting.sort_by(order);
        for (one, _) in parting.iter() {
            fates[*one] = fates[*one].max(PairingOutcome::TooClose);
        }
        pair_up(parting, &far, &mut fates, &mut chosen);
    }
    chosen.sort_unstable();
    let count = |fate| fates.iter().filter(|own| **own == fate).count();
    let as_i64 = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let report = PairReport {
        candidates: as_i64(candidates.len()),
        possible: as_i64(candidates.len() - count(PairingOutcome::Alone)),
        alone: as_i64(count(PairingOutcome::Alone)),
        too_close: as_i64(count(PairingOutcome::TooClose)),
        left_over: as_i64(count(PairingOutcome::LeftOver)),
        ..PairReport::default()
    };
    let wanted = chosen.into_iter().map(|two: [usize; 2]| two.map(|one| candidates[one].wanted));
    (wanted.collect(), report)
}

/// Whether a candidate was paired, and if not, why. A later variant outweighs an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PairingOutcome {
    Alone,
    TooClose,
    LeftOver,
    Paired,
}

/// The candidates of each turn at which some went on differently than others, with what they said; in the order in which
/// such a turn first occurs.
fn partings(candidates: &[Candidate]) -> Vec<Vec<(usize, u128)>> {
    let mut by_heard: HashMap<u128, Vec<(usize, u128)>> = HashMap::new();
    for (i, candidate) in candidates.iter().enumerate() {
        for turn in &candidate.turns {
            by_heard.entry(turn.heard).or_default().push((i, turn.said));
        }
    }
    let part = |those: &Vec<(usize, u128)>| those.iter().any(|(_, said)| *said != those[0].1);
    let ordered: BTreeMap<(usize, u128), Vec<(usize, u128)>> = by_heard
        .into_iter()
        .filter(|(_, those)| part(those))
        .map(|(heard, those)| ((those[0].0, heard), those))
        .collect();
    ordered.into_values().collect()
}

/// Those who part at one turn, the best first.
fn pair_up(
    parting: &[(usize, u128)],
    far: &impl Fn(usize, usize) -> bool,
    fates: &mut [PairingOutcome],
    chosen: &mut Vec<[usize; 2]>,
) {
    for (winner, said) in parting {
        let losers = parting.iter().rev().take_while(|(loser, _)| far(*winner, *loser));
        let losers: Vec<usize> = losers.filter(|(_, other)| other != said).map(|(loser, _)| *loser).collect();
        if losers.is_empty() {
            continue;
        }
        let free = losers.iter().find(|loser| fates[**loser] != PairingOutcome::Paired).copied();
        match free.filter(|_| fates[*winner] != PairingOutcome::Paired) {
            Some(loser) => {
                fates[*winner] = PairingOutcome::Paired;
                fates[loser] = PairingOutcome::Paired;
                chosen.push([*winner, loser]);
            }
            None => fates[*winner] = fates[*winner].max(PairingOutcome::LeftOver),
        }
        for loser in losers {
            fates[loser] = fates[loser].max(PairingOutcome::LeftOver);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// Each conversation is its score and, turn by turn, what the agent said; all hear the same of what was said.
    fn check(conversations: &[(f64, &[u8])], margin: f64) -> (Vec<[i32; 2]>, PairReport) {
        let candidate = |(index, (score, said)): (usize, &(f64, &[u8]))| {
            let heard = |turn| said[..turn].iter().fold(1, |all: u128, one| all * 256 + u128::from(*one));
            Candidate {
                wanted: RowCandidate {
                    id: Uuid::nil(),
                    index: i32::try_from(index).unwrap(),
                    judging: Uuid::nil(),
                    original: true,
                },
                score: *score,
                turns: (0..said.len()).map(|t| Turn { heard: heard(t), said: said[t].into() }).collect(),
            }
        };
        let candidates: Vec<Candidate> = conversations.iter().enumerate().map(candidate).collect();
        let (pairs, report) = pairs(&candidates, margin);
        (pairs.into_iter().map(|two| two.map(|one| one.index)).collect(), report)
    }

    #[test]
    fn the_best_is_paired_with_the_worst_where_they_part() {
        let (pairs, report) = check(&[(9.0, &[1, 2]), (2.0, &[1, 3]), (6.0, &[1, 4]), (5.0, &[1, 5])], 1.0);
        assert_eq!(pairs, [[0, 1], [2, 3]]);
        assert_eq!((report.candidates, report.possible, report.alone), (4, 4, 0));
    }

    #[test]
    fn what_is_alike_or_too_close_is_no_pair() {
        let (pairs, report) = check(&[(9.0, &[1, 2]), (2.0, &[1, 2])], 1.0);
        assert_eq!((pairs.len(), report.alone), (0, 2), "they say the same");
        let (pairs, report) = check(&[(9.0, &[1]), (8.5, &[2])], 1.0);
        assert_eq!((pairs.len(), report.too_close), (0, 2));
        let (pairs, _) = check(&[(9.0, &[1]), (9.0, &[2])], 0.0);
        assert!(pairs.is_empty(), "equal scores prefer nothing");
    }

    #[test]
    fn a_conversation_is_in_one_pair_at_most() {
        let (pairs, report) = check(&[(9.0, &[1]), (2.0, &[2]), (3.0, &[2])], 1.0);
        assert_eq!((pairs.as_slice(), report.left_over), ([[0, 1]].as_slice(), 1));
    }
}
