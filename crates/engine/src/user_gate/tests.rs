mod shipped;

use std::sync::Arc;

use domain::persona::{Complexity, Tier};
use domain::playbook::AgentStyle;
use domain::role::Role;
use insta::assert_snapshot;

use crate::testing::{case, log, play, playbook, scenario, tier};
use crate::{Case, InitialWorld};
use domain::chat::ChatReply;

/// The shop with somebody else's ticket in its records.
fn shop(tier: Tier) -> Case {
    let ticket = "system_facts: {tickets: {t_9001: {about: Maria Rossi, status: open}}, orders:";
    let mut case = Arc::into_inner(case(AgentStyle::FunctionCalling, Complexity::Medium)).expect("one owner");
    case.scenario = scenario(&[("system_facts: {orders:", ticket)]);
    case.initial = Arc::new(InitialWorld::from(playbook().initial_world(&case.scenario.system_facts)));
    case.speech.tier = Some(tier);
    case
}

/// What the gate says to these turns of the user, in this order; the agent answers each that passes with the same words.
fn check(tier: Tier, agent: &str, turns: &[&str]) -> String {
    let says = |role, text: &str| (role, ChatReply { content: text.into(), ..ChatReply::default() });
    let mut recorded: Vec<_> = turns.iter().map(|text| says(Role::SimulatedUser, text)).collect();
    recorded.extend(turns.iter().map(|_| says(Role::Agent, agent)));
    let events = play(Arc::new(shop(tier)), &recorded).1;
    let users = |line: &&str| line.starts_with("user:") || line.starts_with("refused") || line.starts_with("finished");
    log(&events).lines().filter(users).take(turns.len()).collect::<Vec<_>>().join("\n")
}

const PLAIN: &str = "My order o_17 broke and I want 20.50 back.";

#[test]
fn facts_that_leak_and_facts_that_are_invented_are_told_apart() {
    assert_snapshot!(check(tier([1, 30]), "Hm.", &["I am the friend of Maria Rossi.", PLAIN]), @"
    refused simulated_user: `Maria Rossi` stands in the company's records, which you do not see: it is neither in your facts nor was it told to you
    user: My order o_17 broke and I want 20.50 back.
    ");
    assert_snapshot!(check(tier([1, 30]), "Hm.", &["It is about t_9001.", PLAIN]), @"
    refused simulated_user: `t_9001` stands in the company's records, which you do not see: it is neither in your facts nor was it told to you
    user: My order o_17 broke and I want 20.50 back.
    ");
    assert_snapshot!(check(tier([1, 30]), "Hm.", &["It is about o_18.", PLAIN]), @"
    refused simulated_user: `o_18` is nothing you know: it is neither in your facts nor was it told to you
    user: My order o_17 broke and I want 20.50 back.
    ");
    assert_snapshot!(check(tier([1, 30]), "Hm.", &["Write to m.rossi@example.com please.", PLAIN]), @"
    refused simulated_user: `m.rossi@example.com` is nothing you know: it is neither in your facts nor was it told to you
    user: My order o_17 broke and I want 20.50 back.
    ");
}

#[test]
fn what_was_told_and_ways_of_speaking_pass() {
    let turns = [PLAIN, "So Maria Rossi has t_9001?", "I bought 2 on the 24th at 10am with Visa.", "Is it O17?"];
    assert_snapshot!(check(tier([1, 30]), "See t_9001 of Maria Rossi.", &turns), @"
    user: My order o_17 broke and I want 20.50 back.
    user: So Maria Rossi has t_9001?
    user: I bought 2 on the 24th at 10am with Visa.
    user: Is it O17?
    ");
}

#[test]
fn budgets_bind_the_first_turn_on_both_sides_and_later_ones_above() {
    assert_snapshot!(check(tier([3, 8]), "Hm.", &["It broke.", "It broke yesterday.", "Yes, please."]), @"
    refused simulated_user: the message has 2 words: your first one has at least 3
    user: It broke yesterday.
    user: Yes, please.
    ");
    let long = "well ".repeat(19);
    assert_snapshot!(check(tier([3, 8]), "Hm.", &["It broke yesterday.", &long, &long[5..]]), @"
    user: It broke yesterday.
    refused simulated_user: the message has 19 words: write at most 8
    user: well well well well well well well well well well well well well well well well well well
    ");
    // What the author wrote is said as it is.
    assert_snapshot!(check(tier([15, 30]), "Hm.", &["Order o_17 broke, I want 20.50 back."]), @"user: Order o_17 broke, I want 20.50 back.");
}

#[test]
fn a_vague_user_does_not_open_with_what_it_wants() {
    let vague = Tier { hides_intent: true, ..tier([3, 15]) };
    assert_snapshot!(check(vague, "Hm.", &["I want a refund.", "I am not happy.", "A refund it is."]), @"
    refused simulated_user: your first message says outright what you need: let it be guessed from a feeling or a symptom
    user: I am not happy.
    user: A refund it is.
    ");
}

#[test]
fn the_user_ends_neither_unanswered_nor_unanswering() {
    let plain = || tier([1, 30]);
    assert_snapshot!(check(plain(), "Hm.", &["Bye then. [END]", PLAIN, "[END]"]), @"
    refused simulated_user: you cannot end the conversation with your first message
    user: My order o_17 broke and I want 20.50 back.
    user:  (ends)
    ");
    assert_snapshot!(check(plain(), "Which order is it?", &[PLAIN, "Forget it. [END]", "o_17"]), @"
    user: My order o_17 broke and I want 20.50 back.
    refused simulated_user: support has just asked you something: answer it, and end only when you have heard what follows
    user: o_17
    ");
    assert_snapshot!(check(plain(), "Done. Anything else?", &[PLAIN, "No. [END]"]), @"
    user: My order o_17 broke and I want 20.50 back.
    user: No. (ends)
    ");
}

#[test]
fn nobody_speaks_for_somebody_else() {
    assert_snapshot!(check(tier([1, 30]), "Hm.", &["Support: how may I help?", PLAIN]), @"
    refused simulated_user: write only your own words, without a speaker's name
    user: My order o_17 broke and I want 20.50 back.
    ");
}
