//! Models vote on scenarios. What fails costs a vote, never the others.

use std::sync::Arc;

use domain::persona::Profile;
use domain::review::{Abstention, Answer, Review, Vote};
use domain::scenario::Scenario;
use engine::{ChatRequest, review};
use futures::{StreamExt, stream};
use llm::Pool;

use crate::library::Library;

/// Shows every scenario to every model, so many at once, and tells of each vote. In the order of scenarios and models.
pub async fn review_all(
    library: &Library,
    scenarios: &[Arc<Scenario>],
    models: &[Pool],
    concurrency: usize,
    mut voted: impl FnMut(),
) -> Vec<Review> {
    let pairs = scenarios.iter().flat_map(|scenario| models.iter().map(move |model| (scenario, model)));
    let mut asked = stream::iter(pairs.map(|(scenario, model)| vote(library, scenario, model))).buffered(concurrency);
    let mut reviews: Vec<Review> =
        scenarios.iter().map(|scenario| Review { scenario: scenario.id.clone(), ..Review::default() }).collect();
    for votes in &mut reviews {
        for model in models {
            let model = model.name().to_owned();
            match asked.next().await {
                Some(Ok(answers)) => votes.votes.push(Vote { model, answers }),
                Some(Err(reason)) => {
                    let reason = review::one_line(&reason);
                    votes.abstentions.push(Abstention { model, reason });
                }
                None => {}
            }
            voted();
        }
    }
    reviews
}

/// # Errors
/// Why the model's vote does not count.
async fn vote(library: &Library, scenario: &Scenario, model: &Pool) -> Result<Vec<Answer>, String> {
    let playbook = library.playbook(&scenario.playbook)?;
    let ask = review::ask(playbook, scenario, &personas(library, scenario))?;
    let (ask, refused) = match once(&ask, model).await? {
        Ok(answers) => return Ok(answers),
        Err((reply, refused)) => (review::ask_again(ask, &reply, &refused), refused),
    };
    match once(&ask, model).await? {
        Ok(answers) => Ok(answers),
        Err((_, again)) => Err(format!("its reply was no vote, twice: {refused}; {again}")),
    }
}

/// A vote, or a reply that is none with the reason.
async fn once(ask: &ChatRequest, model: &Pool) -> Result<Result<Vec<Answer>, (engine::ChatReply, String)>, String> {
    let reply = model.ask(ask).await.map_err(|error| error.to_string())?;
    Ok(review::read(&reply).map_err(|reason| (reply, reason)))
}

/// Who may play the user.
fn personas<'a>(library: &'a Library, scenario: &Scenario) -> Vec<&'a Profile> {
    let fits = |profile: &&Profile| scenario.personas.is_empty() || scenario.personas.contains(&profile.name);
    library.profiles.values().filter(fits).collect()
}
