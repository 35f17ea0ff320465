//! `groundstate playbook try`: one call, as the agent would make it.

mod flags;
mod show;

use crate::output::say;
use std::process::ExitCode;

use anyhow::bail;
use engine::trial_call::{Attempt, Reply};

use super::super::BAD_INPUT;
use super::Project;
use domain::bad_input::BadInput;
use flags::TrialPlan;
use show::Show;

/// Prints the answer and what the call changed, or the error that the agent would read and why.
///
/// The exit code is 0 even if the call is refused. It is 2 if the flags or the playbook are wrong.
#[derive(clap::Args)]
pub struct TrialArgs {
    /// The tool to call
    tool: String,
    /// The playbook whose tool is called
    #[arg(long)]
    playbook: String,
    /// The call's arguments, as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    /// Call on the initial world of this scenario; default: on the base world
    #[arg(long, value_name = "ID")]
    scenario: Option<String>,
    /// A call to make first, such as `verify_identity {"customer_id": "cus_1001"}` (repeat the flag)
    #[arg(long, value_name = "CALL")]
    before: Vec<String>,
    #[command(flatten)]
    project: Project,
}

pub fn run(args: &TrialArgs) -> anyhow::Result<ExitCode> {
    let TrialPlan { mut attempt, before, call } = flags::read(args)?;
    let show = Show::on_stdout();
    if let (None, Err(fault)) = (&args.scenario, attempt.check_world()) {
        show.note(&format!("the base world alone is not valid ({fault}); --scenario calls on a scenario's world"));
    }
    for first in &before {
        let world = attempt.world().clone();
        let reply = prepare(&mut attempt, first)?;
        show.reply(&first.tool, &reply, &world);
        say!();
    }
    let world = attempt.world().clone();
    let Some(reply) = attempt.call(&call.tool, &call.arguments) else {
        bail!(BadInput::one("--before", "the conversation is over before the call"));
    };
    show.printed(&attempt.printed());
    show.reply(&call.tool, &reply, &world);
    Ok(if matches!(reply, Reply::Broken { .. }) { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS })
}

/// A call that comes first must be answered. Where a model would, `scripted` does.
fn prepare(attempt: &mut Attempt, call: &flags::Call) -> anyhow::Result<Reply> {
    let refused = |why: String| BadInput::one("--before", format!("`{}`: {why}", call.tool));
    let reply = match attempt.call(&call.tool, &call.arguments) {
        Some(Reply::Asks { .. }) => attempt.answer_as_scripted().map_err(refused)?,
        reply => reply,
    };
    match reply {
        Some(Reply::Broken { why, .. }) => bail!(refused(why)),
        Some(Reply::Ended) => bail!(refused("ends the conversation, so nothing can come after it".to_owned())),
        Some(reply) => Ok(reply),
        None => bail!(refused("was not answered".to_owned())),
    }
}
