//! A judge beside people: what people say is read and kept, and compared with what the judge says.

pub mod sheet;

use std::collections::{BTreeMap, BTreeSet};

use domain::api::{HumanRating, VerdictSummary};
use domain::calibration::ratings::{self, Format};
use domain::calibration::{OVERALL, Rating, Ratings, calibrate};
use domain::problem::Problem;
use domain::verdict::Verdict;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use domain::bad_input::BadInput;
use store::calibrations::{self, Calibration};
use store::clock;
use store::judgings::Judging;
use store::ratings as stored;
use store::verdicts::{self, StoredVerdict};

/// Verdicts that are read before others get the connection to the database.
const PAGE: i64 = 1_000;

/// A judging, and all scores that it gave.
pub struct JudgingScores {
    pub judging: Judging,
    /// Without what judges wrote beside their scores: nothing here needs it, and it is most of a verdict.
    pub verdicts: BTreeMap<Uuid, StoredVerdict>,
}

impl JudgingScores {
    /// # Errors
    /// The database.
    pub async fn load(pool: &PgPool, judging: Judging) -> store::Result<Self> {
        let (mut all, mut after): (BTreeMap<Uuid, StoredVerdict>, _) = (BTreeMap::new(), Some(-1));
        while let Some(from) = after {
            let page = verdicts::page(&mut *pool.acquire().await?, judging.id, from, PAGE).await?;
            after = page.last().map(|last| last.position);
            all.extend(page.into_iter().filter_map(|said| Some((said.conversation_id.parse().ok()?, scores_of(said)))));
        }
        Ok(Self { judging, verdicts: all })
    }

    /// Whether the judge gave any scores yet.
    pub fn is_empty(&self) -> bool {
        self.verdicts.values().all(|judged| judged.verdict.is_none())
    }

    /// In the order in which the judge gave them.
    pub fn criteria(&self) -> Vec<String> {
        criteria(self.verdicts.values().filter_map(|judged| judged.verdict.as_ref()))
    }

    /// Reads what people say of these conversations. `file` is a name for messages.
    ///
    /// # Errors
    /// All that is wrong with the text.
    pub fn read(&self, file: &str, text: &str, format: Format) -> Result<Ratings, BadInput> {
        let criteria = self.criteria();
        let criteria: Vec<&str> = criteria.iter().map(String::as_str).collect();
        let ratings = ratings::read(file, text, format, &criteria).map_err(BadInput)?;
        let strangers = ratings.rows.iter().filter(|row| row.conversation.parse::<Uuid>().is_err());
        let problems: Vec<Problem> = strangers
            .map(|row| {
                Problem::new(file, 0, "conversation", format!("`{}` is not the id of a conversation", row.conversation))
            })
            .collect();
        if problems.is_empty() { Ok(ratings) } else { Err(BadInput(problems)) }
    }

    /// One calibration for each judge of which somebody rated what it judged.
    pub fn compared(&self, ratings: &Ratings, project: Uuid, created_by: &str) -> Vec<Calibration> {
        let judges: BTreeSet<&str> = self.verdicts.values().map(|judged| judged.judge.as_str()).collect();
        judges.into_iter().filter_map(|judge| self.beside(judge, ratings, project, created_by)).collect()
    }

    fn beside(&self, judge: &str, ratings: &Ratings, project: Uuid, created_by: &str) -> Option<Calibration> {
        let own = self.verdicts.iter().filter(|(_, judged)| judged.judge == judge);
        let own: BTreeMap<String, &StoredVerdict> = own.map(|(id, judged)| (id.to_string(), judged)).collect();
        let rows: Vec<Rating> =
            ratings.rows.iter().filter(|row| own.contains_key(&row.conversation)).cloned().collect();
        let versions: BTreeSet<&str> = rows.iter().map(|row| own[&row.conversation].judge_version.as_str()).collect();
        let verdicts: BTreeMap<String, Verdict> =
            own.iter().filter_map(|(id, judged)| Some((id.clone(), judged.verdict.clone()?))).collect();
        let report = calibrate(&Ratings { rows: rows.clone(), ..ratings.clone() }, &verdicts);
        (report.conversations > 0).then(|| Calibration {
            id: clock::id(),
            judge: judge.to_owned(),
            judge_versions: versions.into_iter().map(str::to_owned).collect(),
            models: calibrations::panel(&self.judging.models),
            report,
            project_id: project,
            judging_id: Some(self.judging.id),
            created_by: created_by.to_owned(),
            created_at: clock::now(),
        })
    }
}

fn scores_of(said: VerdictSummary) -> StoredVerdict {
    let verdict = said.verdict.map(|mut verdict| {
        verdict.rationale = String::new();
        verdict.scores.iter_mut().for_each(|score| score.rationale = String::new());
        verdict.panel = Vec::new();
        verdict
    });
    let (judge, judge_version, outcome) = (said.judge, said.judge_version, said.outcome);
    StoredVerdict { judge, judge_version, verdict, verification: None, outcome }
}

/// Of these verdicts, in the order in which they name them.
pub fn criteria<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for score in verdicts.flat_map(|verdict| &verdict.scores) {
        if !names.contains(&score.criterion) {
            names.push(score.criterion.clone());
        }
    }
    names
}

/// Ratings as they are compared. `criteria` are the judge's; those that nobody rated are left out.
pub fn ratings_of(criteria: &[String], rows: Vec<(Uuid, HumanRating)>) -> Ratings {
    let rated: BTreeSet<&String> = rows.iter().flat_map(|(_, rating)| rating.scores.keys()).collect();
    let own = criteria.iter().filter(|name| *name != OVERALL && rated.contains(name)).cloned();
    let overall = rated.iter().any(|name| *name == OVERALL).then(|| OVERALL.to_owned());
    let criteria = own.chain(overall).collect();
    let row = |(id, rating): (Uuid, HumanRating)| Rating {
        conversation: id.to_string(),
        rater: rating.rater,
        scores: rating.scores,
        goal_achieved: rating.goal_achieved,
    };
    Ratings { criteria, rows: rows.into_iter().map(row).collect() }
}

/// Inserts ratings of conversations that the judging knows, and calibrations, within a transaction. Returns how many ratings were
/// kept.
pub async fn insert_ratings(
    tx: &mut PgConnection,
    ratings: &Ratings,
    said: &JudgingScores,
    calibrations: &[Calibration],
) -> store::Result<usize> {
    let now = clock::now();
    let mut kept = 0;
    // Two sheets that rate the same conversations must not wait for each other.
    let mut rows: Vec<_> = ratings.rows.iter().collect();
    rows.sort_by_key(|row| &row.conversation);
    for row in rows {
        let Some(id) = row.conversation.parse().ok().filter(|id| said.verdicts.contains_key(id)) else { continue };
        let rating = HumanRating {
            rater: row.rater.clone(),
            scores: row.scores.clone(),
            goal_achieved: row.goal_achieved,
            comment: None,
            created_at: now,
        };
        stored::rate(&mut *tx, id, &rating).await?;
        kept += 1;
    }
    for calibration in calibrations {
        calibrations::insert(&mut *tx, calibration).await?;
    }
    Ok(kept)
}
