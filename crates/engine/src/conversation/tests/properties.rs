//! What holds of the world whatever agents, tool simulators and state managers say.

use domain::event::EventKind;
use domain::patch::Patch;
use proptest::test_runner::TestCaseError;
use serde_json::Value;

use super::*;
use crate::Case;
use crate::world::{History, World};

/// A call that an agent might make, good and bad ones.
fn any_call() -> impl Strategy<Value = (String, String)> {
    let order = prop_oneof![3 => Just("o_17"), 1 => Just("o_18")];
    let refund = (order.clone(), prop_oneof![-5.0..90.0_f64, Just(1e300), Just(0.0)])
        .prop_map(|(order, amount)| ("refund".to_owned(), json!({"order_id": order, "amount": amount}).to_string()));
    let fixed = [
        ("meddle", "{}"),
        ("open_ticket", "{\"about\": \"cup\"}"),
        ("find_article", "{\"query\": \"refund\"}"),
        ("get_order", "{\"order_id\": 7}"),
        ("get_order", "not json"),
        ("no_such_tool", "{}"),
        ("hours", "{}"),
    ];
    prop_oneof![
        3 => refund,
        1 => order.prop_map(|order| ("get_order".to_owned(), json!({"order_id": order}).to_string())),
        4 => prop::sample::select(fixed.to_vec()).prop_map(|(tool, arguments)| (tool.to_owned(), arguments.to_owned())),
    ]
}

/// A patch that a state manager might propose: in and out of its authority, applicable or not, true or invented.
fn any_patch() -> impl Strategy<Value = Value> {
    let place = prop::sample::select(
        &[
            "/tickets/ID",
            "/tickets/t_1",
            "/tickets",
            "/tickets/ID/status",
            "/orders/o_17/total",
            "/lamp",
            "",
            "tickets",
            "/tickets/ID/-",
            "/a~2",
        ][..],
    );
    let value = prop::sample::select(
        &[
            r#"{"about": "cup", "status": "open"}"#,
            r#"{"about": "cup", "status": "lost"}"#,
            r#"{"about": "Bob"}"#,
            r#""open""#,
            "null",
            "{}",
        ][..],
    );
    let verb = prop::sample::select(&["add", "replace", "remove", "move"][..]);
    let op = (verb, place, value).prop_map(|(op, path, value)| {
        let value: Value = serde_json::from_str(value).expect("json");
        json!({"op": op, "path": path, "value": value})
    });
    prop::collection::vec(op, 0..4).prop_map(Value::from)
}

/// Plays these calls, one a turn; models that are asked in between answer with the patches in turn.
fn events(case: &Arc<Case>, turns: &[(String, String)], patches: &[Value]) -> Vec<domain::Event> {
    let mut conversation = Conversation::new(Arc::clone(case));
    let (mut turns, mut patches) = (turns.iter(), patches.iter().cycle());
    let mut events = Vec::new();
    advance(
        &mut conversation,
        |conversation, request| {
            let id = crate::tools::code::fresh_id(&conversation.id_seed(), "open_ticket", 0);
            Some(Resolution::Reply(match request.to.role {
                Role::Agent => match turns.next() {
                    Some((tool, arguments)) => calls(&[(tool, arguments)]),
                    None => says("That is all."),
                },
                Role::ToolSimulator => says(&json!({"ticket_id": id, "title": "Refunds"}).to_string()),
                Role::StateManager => {
                    let patch = patches.next().map(Value::to_string).unwrap_or_default().replace("ID", &id);
                    says(&format!("{{\"patch\": {patch}}}"))
                }
                _ => return Some(conversation.stand_in(request)),
            }))
        },
        |_, event| {
            events.push(event);
            ControlFlow::Continue(())
        },
    );
    events
}

/// Whether a tool of the shop may write there.
fn allowed(tool: &str, path: &str) -> bool {
    match tool {
        "refund" => path == "/orders/o_17/refunded" || path == "/orders/o_18/refunded",
        "open_ticket" => path.starts_with("/tickets/"),
        _ => false,
    }
}

fn check(case: &Arc<Case>, events: &[domain::Event]) -> Result<(), TestCaseError> {
    let mut conversation = Conversation::new(Arc::clone(case));
    let mut changes: Vec<(u32, &Patch)> = Vec::new();
    for event in events {
        let before = conversation.state().world.clone();
        conversation.state.apply(event.clone()).expect("its own event");
        let after = &conversation.state().world;
        let EventKind::ToolAnswered { tool, answer, patch, .. } = &event.kind else {
            prop_assert_eq!(after, &before, "only an answered call changes the world");
            continue;
        };
        if !answer.succeeded() {
            prop_assert!(patch.is_empty(), "a refused call changes nothing");
            prop_assert_eq!(after, &before);
            prop_assert_eq!(after.hash(), before.hash());
        }
        for op in patch {
            prop_assert!(allowed(tool, op.path()), "{} wrote {}", tool, op.path());
        }
        prop_assert!(
            case.playbook.check_world(after, &case.now()).is_ok(),
            "schema and invariants hold in every version"
        );
        if !patch.is_empty() {
            changes.push((event.seq, patch));
        }
    }
    replays(case, conversation.state(), &changes)
}

fn replays(case: &Arc<Case>, state: &State, changes: &[(u32, &Patch)]) -> Result<(), TestCaseError> {
    let mut world = case.initial.world.clone();
    for (_, patch) in changes {
        world = world.apply(patch).expect("it applied before");
    }
    prop_assert_eq!(&world, &state.world);
    prop_assert_eq!(world.hash(), World::new(&world.to_json()).hash(), "the hash is that of the document");
    prop_assert_eq!(world.version() as usize, changes.len());
    let history = History::of(&case.initial.world, changes).expect("they apply");
    for pointer in ["/orders/o_17/refunded", "/orders/o_17/total"] {
        let last = changes.iter().rev().find(|(_, patch)| patch.iter().any(|op| op.path() == pointer));
        let writer = history.writer(pointer).expect("a pointer");
        prop_assert_eq!(writer, last.map(|(seq, _)| *seq));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_world_is_what_its_patches_say_and_within_authority(
        turns in prop::collection::vec(any_call(), 1..12),
        patches in prop::collection::vec(any_patch(), 1..6),
    ) {
        let mut case = (*medium()).clone();
        // Long enough for all turns.
        let mut playbook = crate::testing::compiled();
        playbook.spec.limits.agent_steps = 50;
        case.playbook = Arc::new(playbook);
        let case = Arc::new(case);
        check(&case, &events(&case, &turns, &patches))?;
    }
}
