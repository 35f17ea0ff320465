//! The reward that a trainer gets for a conversation, and what it follows from.

use domain::api::ConversationDetail;
use domain::outcome::{Blame, Outcome};
use domain::reward::{self, Penalties};
use domain::transcript::Transcript;
use domain::verdict::{Rule, Verification};
use leptos::prelude::*;

use ui::components::Badge;
use ui::format;
use ui::labels::{self, Tone};

#[derive(Debug, Clone, PartialEq)]
struct RewardDetail {
    reward: Option<u8>,
    /// Whose failure it is.
    blame: Option<Blame>,
    components: Vec<(Rule, f64)>,
    penalties: Penalties,
}

impl RewardDetail {
    /// `None` while the conversation is played, and for somebody who still has to rate it blindly.
    fn of(detail: &ConversationDetail) -> Option<Self> {
        let blame = match detail.summary.outcome.as_ref()? {
            Outcome::Accepted => None,
            Outcome::Failed { blame, .. } => Some(*blame),
        };
        let verification = detail.verification.as_ref();
        let checks = verification.map(|verification| verification.items.as_slice()).unwrap_or_default();
        let transcript: Transcript = detail.events.iter().cloned().collect();
        Some(Self {
            reward: reward::reward(blame, verification.is_some_and(Verification::passed)),
            blame,
            components: reward::components(checks).into_iter().collect(),
            penalties: Penalties::of(&transcript),
        })
    }

    fn explanation(&self) -> String {
        match (self.reward, self.blame) {
            (Some(1), _) => "Every check of the verifier holds.".to_owned(),
            (Some(_), _) => "A check of the verifier does not hold.".to_owned(),
            (None, Some(blame)) => {
                let blame = labels::words(blame.into_str());
                format!("The failure is not the agent's. To blame: {blame}. Leave the conversation out of training.")
            }
            (None, None) => "It was not verified.".to_owned(),
        }
    }
}

#[component]
pub fn Reward(detail: Signal<ConversationDetail>) -> impl IntoView {
    let found = Memo::new(move |_| RewardDetail::of(&detail.read()));
    move || found.get().map(|found| view! { <RewardPanel found /> })
}

#[component]
fn RewardPanel(found: RewardDetail) -> impl IntoView {
    let (tone, text) = match found.reward {
        Some(1) => (Tone::Good, "1"),
        Some(_) => (Tone::Bad, "0"),
        None => (Tone::Neutral, "none"),
    };
    let explanation = found.explanation();
    let Penalties { malformed_calls, failed_calls, refused_messages, truncated } = found.penalties;
    let penalties = [
        ("Malformed calls", malformed_calls.to_string()),
        ("Calls that a tool refused", failed_calls.to_string()),
        ("Refused messages", refused_messages.to_string()),
        ("Ended by a limit", if truncated { "yes" } else { "no" }.to_owned()),
    ];
    let components = found.components.into_iter().map(|(rule, share)| (labels::rule(rule), format::percent(share)));
    let components: Vec<_> = components.collect();
    view! {
        <section class="panel" aria-labelledby="reward">
            <h2 id="reward">"Reward"</h2>
            <p>
                <Badge tone text /> " " {explanation}
            </p>
            {(!components.is_empty()).then(|| view! { <Pairs title="Components: checks that hold" pairs=components /> })}
            <Pairs title="Penalties" pairs=penalties.to_vec() />
        </section>
    }
}

#[component]
fn Pairs(title: &'static str, pairs: Vec<(&'static str, String)>) -> impl IntoView {
    let pair = |(name, value): (&'static str, String)| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd>{value}</dd>
            </div>
        }
    };
    view! {
        <h3>{title}</h3>
        <dl class="pairs">{pairs.into_iter().map(pair).collect_view()}</dl>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(reward: Option<u8>, blame: Option<Blame>) -> RewardDetail {
        RewardDetail { reward, blame, components: Vec::new(), penalties: Penalties::default() }
    }

    #[test]
    fn a_missing_reward_says_who_is_to_blame() {
        let said = detail(None, Some(Blame::SimulatedUser)).explanation();
        assert!(said.contains("To blame: simulated user."), "{said}");
        assert!(detail(Some(0), Some(Blame::Agent)).explanation().contains("does not hold"));
        assert!(detail(Some(1), None).explanation().contains("Every check"));
    }
}
