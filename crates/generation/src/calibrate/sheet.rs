//! Conversations for people to rate.

use std::collections::{BTreeMap, HashSet, VecDeque};

use domain::calibration::OVERALL;
use sqlx::PgPool;
use store::{conversation_columns, verdicts};
use uuid::Uuid;

/// Verdicts that are looked at before others get the connection to the database.
const PAGE: i64 = 5_000;

/// What people are to rate.
#[derive(Debug, Default)]
pub struct Sheet {
    /// Empty if nothing has a verdict yet.
    pub conversations: Vec<Uuid>,
    pub criteria: Vec<String>,
}

/// So many conversations of a judging, and all of its criteria. Nothing of a verdict is read but its overall score, however
/// many there are.
///
/// # Errors
/// The database.
pub async fn read(pool: &PgPool, judging: Uuid, n: usize) -> store::Result<Sheet> {
    let (mut by_score, mut versions, mut criteria) = (ByScore::default(), HashSet::new(), Vec::new());
    let mut after = Some(-1);
    while let Some(from) = after {
        let mut db = pool.acquire().await?;
        let page = verdicts::scored(&mut db, judging, from, PAGE).await?;
        after = page.last().map(|last| last.position);
        for scored in page {
            by_score.add(scored.id, scored.overall, n);
            if versions.insert((scored.judge, scored.judge_version)) {
                let own = conversation_columns::criteria(&mut db, judging, scored.id).await?;
                let new: Vec<String> = own.into_iter().filter(|name| !criteria.contains(name)).collect();
                criteria.extend(new);
            }
        }
    }
    Ok(Sheet { conversations: by_score.choose(n), criteria })
}

/// So many conversations, spread evenly over the judge's overall scores: agreement on good ones alone says little.
pub fn choose(overall: impl IntoIterator<Item = (Uuid, i16)>, n: usize) -> Vec<Uuid> {
    let mut by_score = ByScore::default();
    overall.into_iter().for_each(|(id, score)| by_score.add(id, score, n));
    by_score.choose(n)
}

#[derive(Default)]
struct ByScore(BTreeMap<i16, VecDeque<Uuid>>);

impl ByScore {
    /// No more of one score than may be chosen at all.
    fn add(&mut self, id: Uuid, score: i16, most: usize) {
        let own = self.0.entry(score).or_default();
        if own.len() < most {
            own.push_back(id);
        }
    }

    fn choose(self, n: usize) -> Vec<Uuid> {
        let (mut by_score, mut chosen) = (self.0, Vec::new());
        // In turn from each score, so that the rare ones are all there.
        while chosen.len() < n && !by_score.is_empty() {
            chosen.extend(by_score.values_mut().filter_map(VecDeque::pop_front));
            by_score.retain(|_, ids| !ids.is_empty());
        }
        chosen.truncate(n);
        // Whoever rates them must not see by their order how they were scored.
        chosen.sort_unstable();
        chosen
    }
}

impl Sheet {
    /// As CSV, with empty cells.
    pub fn text(&self) -> String {
        let names = self.criteria.iter().map(String::as_str);
        let columns: Vec<&str> =
            ["conversation", "rater"].into_iter().chain(names).chain([OVERALL, "goal_achieved"]).collect();
        let empty = ",".repeat(columns.len() - 1);
        let rows: String = self.conversations.iter().map(|id| format!("{id}{empty}\n")).collect();
        format!("{}\n{rows}", columns.join(","))
    }
}
