use super::*;
use crate::outcome::Blame;
use crate::patch::PatchOp;

const COST: Usage = Usage { prompt_tokens: 100, cached_tokens: 40, completion_tokens: 7 };

pub fn event(seq: u32, ancestry: &[Fork], kind: EventKind) -> Event {
    Event { seq, ancestry: ancestry.to_vec(), kind }
}

pub fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id.into(), "pay".into(), arguments.into())
}

fn user(content: &str) -> EventKind {
    EventKind::UserSpoke { content: content.into(), ended: false, walked_out: false, usage: COST }
}

fn agent(content: &str, calls: &[&str]) -> EventKind {
    let tool_calls = calls.iter().map(|id| call(id, "{}")).collect();
    EventKind::AgentSpoke {
        content: content.into(),
        reasoning: Some("Hm.".into()),
        tool_calls,
        usage: COST,
        sampling: None,
    }
}

fn answered(call_id: &str, answer: Answer, patch: Patch) -> EventKind {
    EventKind::ToolAnswered {
        call_id: call_id.into(),
        tool: "pay".into(),
        content: "done".into(),
        answer,
        patch,
        fault: None,
        note: None,
        usage: COST,
    }
}

fn delegated(call_id: &str) -> EventKind {
    EventKind::Delegated { call_id: call_id.into(), agent: "payer".into(), task: "Pay it.".into() }
}

fn refused(role: Role) -> EventKind {
    EventKind::Refused { role, reply: "Er.".into(), reason: "it is empty".into(), usage: COST }
}

fn paid() -> Patch {
    vec![PatchOp::Remove { path: "/debt".into() }]
}

pub const INNER: [Fork; 1] = [Fork { seq: 1, index: 0 }];

/// The agent hands on to a sub-agent, which pays, and then speaks itself.
pub fn paying() -> Vec<Event> {
    vec![
        event(0, &[], user("Pay.")),
        event(1, &[], agent("", &["call_1"])),
        event(2, &INNER, delegated("call_1")),
        event(3, &INNER, agent("", &["call_2"])),
        event(4, &INNER, answered("call_2", Answer::Succeeded, paid())),
        event(5, &INNER, agent("Paid.", &[])),
        event(6, &[], answered("call_1", Answer::Succeeded, vec![])),
        event(7, &[], agent("It is paid.", &["call_3"])),
        event(8, &[], answered("call_3", Answer::Terminal, vec![])),
    ]
}

fn folded(events: impl IntoIterator<Item = Event>) -> Transcript {
    events.into_iter().collect()
}

fn numbered(kinds: impl IntoIterator<Item = EventKind>) -> Vec<Event> {
    (0..).zip(kinds).map(|(seq, kind)| event(seq, &[], kind)).collect()
}

#[test]
fn each_agent_has_messages_of_its_own() {
    let transcript = folded(paying());
    let [sub_agent] = transcript.sub_agents()[..] else { panic!("{:?}", transcript.sub_agents()) };
    assert_eq!(transcript.agent().seqs, [0, 1, 6, 7], "nobody reads the answer of the terminal call");
    assert_eq!((sub_agent.seqs.as_slice(), sub_agent.path.as_slice()), (&[2, 3, 4, 5][..], &INNER[..]));
    assert_eq!(sub_agent.messages[0], Message::User { content: "Pay it.".into() });
    assert_eq!(transcript.user.seqs, [0, 7], "the user hears the agent alone");
    let turns: Vec<u32> = transcript.agent_turns().iter().map(|(seq, _)| *seq).collect();
    assert_eq!(turns, [1, 3, 5, 7]);
}

#[test]
fn a_call_knows_who_made_it_and_what_it_changed() {
    let transcript = folded(paying());
    let payer = Caller::SubAgent { name: "payer".into(), call_id: "call_1".into() };
    let calls: Vec<_> = transcript.calls.iter().map(|call| (call.seq, &*call.id, &call.caller, call.turn)).collect();
    let expected = [(4, "call_2", &payer, 1), (6, "call_1", &Caller::Agent, 1), (8, "call_3", &Caller::Agent, 2)];
    assert_eq!(calls, expected);
    let changes: Vec<_> = transcript.changes().map(|call| (call.seq, &call.patch)).collect();
    assert_eq!(changes, [(4, &paid())]);
    assert_eq!(transcript.calls_made, 3);
}

#[test]
fn what_the_user_does_with_its_own_tools_is_not_the_agents() {
    let acted = EventKind::UserActed { tool_calls: vec![call("call_1", "{}")], usage: COST };
    let transcript = folded(numbered([
        user("It is dark."),
        agent("Switch it on.", &[]),
        acted,
        answered("call_1", Answer::Succeeded, paid()),
    ]));
    assert_eq!(transcript.agent_calls().count(), 0);
    assert_eq!((transcript.calls[0].caller.clone(), transcript.user_turns), (Caller::User, 1));
    assert_eq!((transcript.agent().messages.len(), transcript.user.seqs.as_slice()), (2, &[0, 1, 2, 3][..]));
}

/// Cached tokens are part of what endpoints tell, and of what is paid.
#[test]
fn usage_is_summed_by_role_with_all_its_parts() {
    let verdict = Verdict {
        judge: "default".into(),
        scores: vec![],
        overall: 9,
        rationale: String::new(),
        goal_achieved: true,
        weighted_mean: 9.0,
        panel: vec![],
    };
    let judged = EventKind::Judged { verdict, usage: COST };
    let mut events = paying();
    events.extend([
        event(9, &[], refused(Role::Agent)),
        event(
            10,
            &[],
            EventKind::ToolSimulated { call_id: String::new(), response: serde_json::Value::Null, usage: COST },
        ),
        event(11, &[], judged),
    ]);
    let usage = folded(events).usage;
    let times = |n: u64| Usage { prompt_tokens: 100 * n, cached_tokens: 40 * n, completion_tokens: 7 * n };
    let expected = [
        (Role::SimulatedUser, times(1)),
        // Four turns, and one that was refused.
        (Role::Agent, times(5)),
        // Two answers without a patch, and one response before its patch.
        (Role::ToolSimulator, times(3)),
        (Role::StateManager, times(1)),
        (Role::Judge, times(1)),
    ];
    assert_eq!(usage, expected.into());
}

#[test]
fn replies_that_are_refused_count_until_the_next_step() {
    let begun = [user("Pay."), refused(Role::Agent), agent("Hm?", &[]), refused(Role::SimulatedUser)];
    let transcript = folded(numbered(begun.clone()));
    let seqs = |refusals: &[Refusal]| refusals.iter().map(|refusal| refusal.seq).collect::<Vec<_>>();
    assert_eq!((seqs(&transcript.refusals), seqs(transcript.refused())), (vec![1, 3], vec![3]));
    let again = folded(numbered(begun.into_iter().chain([refused(Role::SimulatedUser)])));
    assert_eq!(seqs(again.refused()), [3, 4]);
    let over = folded(numbered([refused(Role::Agent), user("Pay.")]));
    assert!(over.refused().is_empty());
}

#[test]
fn a_sub_agent_that_is_cut_off_is_kept_apart() {
    let mut events = paying();
    events.truncate(4);
    events.push(event(4, &[], EventKind::Ended { ending: Ending::StepLimit }));
    let transcript = folded(events);
    assert_eq!((transcript.agents.len(), transcript.branches.len(), transcript.interrupted.len()), (1, 0, 1));
    assert_eq!(transcript.sub_agents()[0].seqs, [2, 3]);
    assert_eq!(transcript.end, Some(EndEvent { seq: 4, ending: Ending::StepLimit }));
    assert!(transcript.agent().pending.is_empty(), "nobody waits any more");
}

#[test]
fn nothing_is_left_out_of_events_that_do_not_fit() {
    let stray = answered("call_9", Answer::Succeeded, paid());
    let transcript =
        folded(numbered([stray, agent("", &["call_1", "call_2"]), answered("call_2", Answer::Failed, vec![])]));
    let calls: Vec<_> = transcript.calls.iter().map(|call| (&*call.id, call.turn)).collect();
    assert_eq!(calls, [("call_9", 0), ("call_2", 1)]);
    let waiting: Vec<_> = transcript.acting().pending.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(waiting, ["call_1"]);
}

#[test]
fn the_end_is_told() {
    let outcome = Outcome::Failed { blame: Blame::Infrastructure, reason: "nobody answers".into() };
    let transcript = folded(numbered([EventKind::Finished { outcome: outcome.clone() }]));
    assert_eq!((transcript.outcome, transcript.end, transcript.next_seq), (Some(outcome), None, 1));
}
