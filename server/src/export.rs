//! Exports: rows of fine-tuning data, in the order of the run.

mod metadata;
mod row;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use domain::calibration::Correction;
use domain::outcome::Outcome;
use engine::{Conversation, Next};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::bad_input::BadInput;
use crate::jobs::plan::{self, RunConfig};
use crate::library::Library;
use crate::store::judgings::Judging;
use crate::store::runs::Run;
use crate::store::verdicts::Judged;
use crate::store::{calibrations, conversations, events, judgings, verdicts};

/// What was written, and what was left out and why.
#[derive(Debug, Default)]
pub struct Written {
    pub rows: usize,
    pub not_accepted: usize,
    /// Conversations that came to their end and that the judging has no verdict on.
    pub not_judged: usize,
    /// Conversations that would break a trainer, with the reason.
    pub unusable: Vec<(i32, String)>,
}

/// Which rows are written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice {
    /// Whose verdicts count; default: those of the run itself.
    pub judging: Option<Uuid>,
    /// Also the scores as people would have given them, by the judge's calibration.
    pub corrected: bool,
    /// Also conversations that were not accepted.
    pub all: bool,
    /// Also what each sub-agent did, as a row of its own after its conversation's.
    pub branches: bool,
}

/// Writes a run's rows as canonical JSONL. The file appears whole or not at all.
pub async fn write_jsonl(
    pool: &PgPool,
    run: &Run,
    config: &RunConfig,
    library: &Library,
    out: &Path,
    choice: Choice,
) -> anyhow::Result<Written> {
    // A file is replaced by a new one; what is no file (a device, a pipe) must not be.
    ensure!(!out.exists() || out.is_file(), "{} is no regular file; rows are not written there", out.display());
    let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file =
        tempfile::NamedTempFile::new_in(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
    let mut written = Written::default();
    let mut db = pool.acquire().await?;
    let judging = judgings::get(&mut db, choice.judging.unwrap_or(run.judging)).await?.context("no such judging")?;
    let models =
        judging.models.as_array().into_iter().flatten().filter_map(|m| m.as_str().map(str::to_owned)).collect();
    let said = verdicts::of(&mut db, judging.id).await?;
    let corrections =
        if choice.corrected { corrections(&mut db, run.project, &judging, &said).await? } else { BTreeMap::new() };
    let common =
        row::Common { corrections, run, config, library, judges: models, criteria: criteria(&said, library, run) };
    for planned in conversations::finished(&mut db, run.id).await? {
        let case = Arc::new(plan::case(library, config, run.seed, &planned)?);
        let past = events::of(&mut db, planned.id).await?;
        let conversation = Conversation::resume(case, &past)?;
        let judged = said.get(&planned.id);
        let outcome = match (conversation.next(), judged) {
            (_, Some(judged)) => judged.outcome.clone(),
            (Next::Done(_), None) if !judging.original && conversation.state().ending.is_some() => {
                written.not_judged += 1;
                continue;
            }
            (Next::Done(outcome), None) => outcome,
            (_, None) => continue,
        };
        let accepted = outcome == Outcome::Accepted;
        if !choice.all && !accepted {
            written.not_accepted += 1;
            continue;
        }
        let source = row::Source {
            common: &common,
            planned: &planned,
            conversation: &conversation,
            events: &past,
            judged,
            outcome: &outcome,
        };
        let state = conversation.state();
        // One that was stopped has calls that nobody answered.
        let branches = state.branches.iter().filter(|frame| choice.branches && frame.pending.is_empty());
        for frame in [state.agent()].into_iter().chain(branches) {
            match row::row(&source, frame) {
                Ok(row) => {
                    serde_json::to_writer(&mut file, &row)?;
                    file.write_all(b"\n")?;
                    written.rows += 1;
                }
                Err(reason) => written.unusable.push((planned.position, reason)),
            }
        }
    }
    file.flush()?;
    let file = file.persist(out).with_context(|| format!("cannot write {}", out.display()))?;
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    Ok(written)
}

/// The criteria of all judges of a run: one that does not apply to a row is null there, so that columns are stable.
fn criteria(said: &BTreeMap<Uuid, Judged>, library: &Library, run: &Run) -> BTreeSet<String> {
    let given = said.values().filter_map(|judged| judged.verdict.as_ref());
    let given: BTreeSet<String> = given.flat_map(|v| v.scores.iter().map(|s| s.criterion.clone())).collect();
    if !given.is_empty() {
        return given;
    }
    let playbooks = run.playbook.split(", ").filter_map(|name| library.playbook(name).ok());
    let judges = playbooks.filter_map(|playbook| library.judge_of(playbook).ok());
    judges.flat_map(|judge| judge.spec.criteria.iter().map(|criterion| criterion.name.clone())).collect()
}

/// By version of the judge: what is to be done to its scores.
///
/// # Errors
/// [`BadInput`] if nobody has compared one of the judges with people.
async fn corrections(
    db: &mut PgConnection,
    project: Uuid,
    judging: &Judging,
    said: &BTreeMap<Uuid, Judged>,
) -> anyhow::Result<BTreeMap<String, Correction>> {
    let mut found = BTreeMap::new();
    let judges: BTreeSet<&str> = said.values().map(|judged| judged.judge.as_str()).collect();
    for judge in judges {
        let Some(calibration) = calibrations::of(db, project, judge, &judging.models).await? else {
            let message =
                format!("the judge `{judge}` was never compared with people; see groundstate calibrate sheet");
            return Err(BadInput::one("--corrected", message).into());
        };
        let correction = Correction::fit(&calibration.report);
        found.extend(calibration.judge_versions.into_iter().map(|version| (version, correction.clone())));
    }
    Ok(found)
}
