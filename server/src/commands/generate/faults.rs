//! A run's fault plan, from a file.

use std::path::Path;
use std::sync::Arc;

use domain::Problem;
use domain::document;
use domain::fault::{self, FaultPlan, FaultRule};
use engine::Playbook;

use domain::bad_input::BadInput;

/// The rules of a file, or what is wrong with them.
///
/// # Errors
/// The file cannot be read.
pub fn read(file: &Path, playbooks: &[&Arc<Playbook>]) -> anyhow::Result<Result<Vec<FaultRule>, Vec<Problem>>> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|e| BadInput::one("--faults", format!("{name}: {e}")))?;
    let (plan, located) = match document::located::<FaultPlan>(&name, &text) {
        Ok(read) => read,
        Err(problems) => return Ok(Err(problems)),
    };
    let tools: Vec<&str> = playbooks.iter().flat_map(|p| p.spec.tools.iter().map(|tool| tool.name.as_str())).collect();
    let problems = fault::problems(&plan.faults, &tools);
    if problems.is_empty() || playbooks.is_empty() {
        return Ok(Ok(plan.faults));
    }
    Ok(Err(problems.into_iter().map(|(i, problem)| located.problem(&format!("/faults/{i}"), problem)).collect()))
}
