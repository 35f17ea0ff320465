//! A small shop to test with, and a way to play in it from recorded replies.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use domain::event::{Event, EventKind};
use domain::persona::{Complexity, Persona, Speech, Tier};
use domain::playbook::{AgentStyle, UserStyle};
use domain::role::Role;
use domain::scenario::Scenario;
use domain::seed::Seed;
use domain::task::{Resolution, Task, advance};
use rustix::time::{ClockId, clock_gettime};

use crate::case::Case;
use crate::playbook::{Playbook, Sources, compile};
use crate::{ChatReply, Conversation, InitialWorld, Judge};

const PLAYBOOK: &str = r#"
name: shop
title: A shop
description: Sells things.
prompt: prompt.md
policy: policy.md
intents: [refund, help]
clock: 2026-03-02T09:00:00Z
judge: default
clarification: What can I do for you?
limits: {user_turns: 4, agent_steps: 3, attempts: 2}
code: tools.star
world:
  schema: world.yaml
  base: base.yaml
  invariants:
    - name: refund_within_total
      holds: all([o["refunded"] <= o["total"] for o in world["orders"].values()])
      message: a refund is never more than the order cost
tools:
  - name: get_order
    description: Reads an order.
    parameters: {type: object, properties: {order_id: {type: string}}, required: [order_id], additionalProperties: false}
    simulate: code
  - name: refund
    description: Refunds money.
    parameters: {type: object, properties: {order_id: {type: string}, amount: {type: number}}, required: [order_id, amount]}
    simulate: code
    writes: ["/orders/{order_id}/refunded"]
  - name: meddle
    description: Writes where it may not.
    parameters: {type: object, properties: {}}
    simulate: code
    writes: ["/orders/*/refunded"]
  - name: find_article
    description: Searches help.
    parameters: {type: object, properties: {query: {type: string}}, required: [query]}
    simulate: model
    reads: [/articles]
    template: find.md
    scripted: find.json
    returns: {type: object, required: [title], properties: {title: {type: string}, text: {type: string}, hits: {type: integer, derived: true}}}
  - name: open_ticket
    description: Opens a ticket.
    parameters: {type: object, properties: {about: {type: string}}, required: [about]}
    simulate: model
    writes: [/tickets/+]
    template: find.md
    scripted: ticket.json
    scripted_patch: ticket.patch
    returns: {type: object, required: [ticket_id], properties: {ticket_id: {type: string}}}
  - name: hours
    description: Opening hours.
    parameters: {type: object, properties: {}}
    simulate: constant
    response: {opens: "09:00"}
  - name: hand_over
    description: Hands over to a human.
    parameters: {type: object, properties: {why: {type: string}}}
    simulate: terminal
"#;

const WORLD: &str = r"
type: object
additionalProperties: false
required: [orders, articles, tickets]
properties:
  orders:
    type: object
    additionalProperties:
      type: object
      additionalProperties: false
      required: [total, refunded]
      properties: {total: {type: number}, refunded: {type: number, minimum: 0}}
  articles: {type: object}
  tickets:
    type: object
    additionalProperties:
      type: object
      additionalProperties: false
      required: [about, status]
      properties: {about: {type: string}, status: {enum: [open, closed]}}
";

const TOOLS: &str = r#"
def get_order(world, ctx, order_id):
    if order_id not in world["orders"]:
        fail("no order %s" % order_id)
    return world["orders"][order_id]

def refund(world, ctx, order_id, amount):
    order = world["orders"][order_id]
    order["refunded"] = round(order["refunded"] + amount, 2)
    return {"refunded": order["refunded"]}

def meddle(world, ctx):
    world["orders"]["o_17"]["total"] = 0.0
    return "done"
"#;

const SCENARIO: &str = r"
id: small_refund
playbook: shop
intent: refund
description: Something broke.
user_facts: {order: o_17}
user_request: {amount: 20.50}
system_facts: {orders: {o_17: {total: 80.0, refunded: 0}}}
user_goal: Get 20.50 back for order o_17.
expected_outcome:
  world: {/orders/o_17/refunded: 20.50}
  actions: [{tool: refund, args: {order_id: o_17, amount: 20.5}}]
  forbidden: [{tool: hand_over}]
  told: ['20.50']
script:
  - user: {medium: 'Order o_17 broke, I want 20.50 back.', vague: Something broke.}
  - calls: [{tool: get_order, args: {order_id: o_17}}, {tool: hours}]
    reasoning: Look first.
  - calls: [{tool: refund, args: {order_id: o_17, amount: 20.5}}]
  - agent: 'Done, {{ facts.amount }}0 is on its way; refunded so far {{ calls.refund.refunded }}.'
";

pub fn files() -> BTreeMap<String, String> {
    let files = [
        ("playbook.yaml", PLAYBOOK),
        ("prompt.md", "You work in a shop. {{ policy }} It is {{ now }}."),
        ("policy.md", "Be kind."),
        ("world.yaml", WORLD),
        ("base.yaml", "orders: {}\narticles: {a_1: {title: Refunds, text: Refunds take 5 days.}}\ntickets: {}\n"),
        ("tools.star", TOOLS),
        ("find.md", "Finds things."),
        ("find.json", r#"{"title": "Refunds", "text": "Refunds take 5 days.", "hits": 1}"#),
        ("ticket.json", r#"{"ticket_id": "{{ now }}"}"#),
        (
            "ticket.patch",
            r#"[{"op": "add", "path": "/tickets/{{ fresh_id }}", "value": {"about": {{ arguments.about | tojson }}, "status": "open"}}]"#,
        ),
    ];
    files.map(|(name, text)| (name.to_owned(), text.to_owned())).into()
}

/// What makes a team of the shop: agents below agents, and a user with a lamp of its own.
const TEAM: &str = r"
uses: [desk, hours, hand_over]
variants:
  - {name: flat, prompt: prompt.md, uses: [get_order, refund, hours, hand_over]}
user_tools:
  - name: switch_lamp
    description: Switches your lamp.
    parameters: {type: object, properties: {on: {type: boolean}}, required: [on], additionalProperties: false}
    simulate: code
    writes: [/lamp/on]
tools:
  - name: desk
    description: Sees to orders.
    simulate: agent
    prompt: desk.md
    uses: [get_order, cashier]
  - name: cashier
    description: Pays money.
    simulate: agent
    prompt: cashier.md
    uses: [refund]
";

const TEAM_SCRIPT: &str = r"
script:
  - user: {medium: 'Order o_17 broke, I want 20.50 back.', vague: Something broke.}
  - agent: Is the lamp still dark when you switch it on?
  - user_calls: [{tool: switch_lamp, args: {on: true}}]
  - user: It stays dark.
  - calls: [{tool: get_order, args: {order_id: o_17}}, {tool: hours}]
    reasoning: Look first.
  - calls: [{tool: refund, args: {order_id: o_17, amount: 20.5}}]
  - agent: 'Done, {{ facts.amount }}0 is on its way; refunded so far {{ calls.refund.refunded }}.'
";

pub fn team_files() -> BTreeMap<String, String> {
    let mut files = files();
    let playbook = PLAYBOOK.replacen("tools:\n", TEAM.trim_start(), 1);
    let world = WORLD.replacen("  articles: {type: object}", "  articles: {type: object}\n  lamp: {type: object}", 1);
    let lamp = "\n\ndef switch_lamp(world, ctx, on):\n    world[\"lamp\"][\"on\"] = on\n    return {\"light\": \"none\", \"code\": 90210}\n";
    files.extend([
        ("playbook.yaml".to_owned(), playbook),
        ("world.yaml".to_owned(), world),
        ("base.yaml".to_owned(), format!("{}lamp: {{on: false}}\n", files["base.yaml"])),
        ("tools.star".to_owned(), format!("{TOOLS}{lamp}")),
        ("desk.md".to_owned(), "You see to orders, with {{ tools | map(attribute='name') | join(', ') }}.".to_owned()),
        ("cashier.md".to_owned(), "You pay.".to_owned()),
    ]);
    files
}

/// A conversation of the team.
pub fn team_case(variant: Option<&str>, agent_style: AgentStyle) -> Case {
    let files = team_files();
    let playbook = Arc::new(compile(&Sources { folder: "playbooks/shop", files: &files }).expect("the team compiles"));
    let script = SCENARIO.find("script:").expect("a script");
    let world = "expected_outcome:\n  world: {/orders/o_17/refunded: 20.50}";
    let lit = "expected_outcome:\n  world: {/orders/o_17/refunded: 20.50, /lamp/on: true}";
    let text = format!("{}{}", SCENARIO[..script].replacen(world, lit, 1), TEAM_SCRIPT.trim_start());
    let scenario: Arc<Scenario> = Arc::new(domain::parse("scenario.yaml", &text).expect("the scenario is read"));
    let initial = Arc::new(InitialWorld::from(playbook.initial_world(&scenario.system_facts)));
    let variant = variant.map(str::to_owned);
    Case { playbook, scenario, initial, variant, ..(*case(agent_style, Complexity::Medium)).clone() }
}

/// Compiled once: properties play it hundreds of times.
static SHOP: LazyLock<Arc<Playbook>> = LazyLock::new(|| Arc::new(compiled()));

pub fn compiled() -> Playbook {
    compile(&Sources { folder: "playbooks/shop", files: &files() }).expect("the shop compiles")
}

pub fn playbook() -> Arc<Playbook> {
    Arc::clone(&SHOP)
}

pub fn judge() -> Arc<Judge> {
    let yaml = "name: default\ndescription: d\nprompt: p\naccept_from: 7\ncriteria:\n  - {name: goal, measures: m, anchors: {'0': bad, '3': poor, '6': fair, '9': fine, '10': good}, weight: 3}\n  - {name: tone, measures: m, anchors: {'0': bad, '3': poor, '6': fair, '9': fine, '10': good}, weight: 1}\n";
    let files = [("judge.yaml", yaml), ("p", "Judge this:\n{{ transcript }}")];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    Arc::new(Judge::compile("judges/default", &files).expect("the judge compiles"))
}

/// The scenario with some of its text replaced.
pub fn scenario(edits: &[(&str, &str)]) -> Arc<Scenario> {
    let text = edits.iter().fold(SCENARIO.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "the scenario does not hold {from}");
        text.replace(from, to)
    });
    Arc::new(domain::parse("scenario.yaml", &text).expect("the scenario is read"))
}

pub fn case(agent_style: AgentStyle, complexity: Complexity) -> Arc<Case> {
    let (playbook, scenario) = (playbook(), scenario(&[]));
    let initial = Arc::new(InitialWorld::from(playbook.initial_world(&scenario.system_facts)));
    let persona = Persona {
        profile: "p".into(),
        demographics: [].into(),
        traits: [("patience".into(), 0.5)].into(),
        emotions: [].into(),
    };
    Arc::new(Case {
        seed: Seed::new(1, &scenario.id, 0),
        playbook,
        scenario,
        judge: judge(),
        initial,
        persona: persona.into(),
        guidance: vec!["You are calm.".into()],
        complexity,
        speech: Speech { tier: None, closing_questions: vec!["anything else".into()], answers: None },
        agent_style,
        user_style: UserStyle::Text,
        variant: None,
        judges: 1,
        sample: 0,
        attempt: 1,
        faults: Vec::new(),
    })
}

/// Budgets like those in personas/model.yaml.
pub fn tier(words: [u32; 2]) -> Tier {
    Tier { words, spare_words: 10, hides_intent: false, guidance: "Plainly.".into(), weight: 1.0, favoured: Vec::new() }
}

/// Plays to the end. Each role answers from its recorded replies first, then as scripted.
pub fn play(case: Arc<Case>, recorded: &[(Role, ChatReply)]) -> (Conversation, Vec<Event>) {
    let mut replies: BTreeMap<Role, VecDeque<ChatReply>> = BTreeMap::new();
    for (role, reply) in recorded {
        replies.entry(*role).or_default().push_back(reply.clone());
    }
    let mut conversation = Conversation::new(case);
    let mut events = Vec::new();
    advance(
        &mut conversation,
        |conversation, request| {
            let recorded = replies.get_mut(&request.to.role).and_then(VecDeque::pop_front);
            Some(recorded.map_or_else(|| conversation.stand_in(request), Resolution::Reply))
        },
        |_, event| {
            events.push(event);
            assert!(events.len() < 200, "the conversation does not end");
            ControlFlow::Continue(())
        },
    );
    (conversation, events)
}

/// Events as lines to compare.
pub fn log(events: &[Event]) -> String {
    let mut out = String::new();
    for event in events {
        let fork: String = event.ancestry.iter().map(|f| format!("[{}.{}] ", f.seq, f.index)).collect();
        let line = match &event.kind {
            EventKind::Started { complexity, .. } => format!("started, {complexity}"),
            EventKind::UserSpoke { content, ended, .. } => {
                format!("user: {content}{}", if *ended { " (ends)" } else { "" })
            }
            EventKind::UserActed { tool_calls, .. } => {
                let calls: Vec<String> =
                    tool_calls.iter().map(|c| format!("{} {}({})", c.id, c.name(), c.function.arguments)).collect();
                format!("user acts: {}", calls.join(" & "))
            }
            EventKind::Delegated { call_id, agent, task } => format!("{call_id} is taken over by {agent}: {task}"),
            EventKind::AgentSpoke { content, reasoning, tool_calls, .. } => {
                let calls: Vec<String> =
                    tool_calls.iter().map(|c| format!("{} {}({})", c.id, c.name(), c.function.arguments)).collect();
                let thought = reasoning.as_ref().map(|r| format!(" <{}>", r.replace('\n', "/"))).unwrap_or_default();
                format!("agent:{thought} {content}{}", calls.join(" & "))
            }
            EventKind::ToolSimulated { response, .. } => format!("simulated: {response}"),
            EventKind::ToolAnswered { tool, content, answer, patch, fault, .. } => {
                let fault = fault.map(|fault| format!(" ({fault})")).unwrap_or_default();
                let patch =
                    if patch.is_empty() { String::new() } else { format!(" patch {}", serde_json::json!(patch)) };
                format!("{tool} {answer:?}{fault}: {content}{patch}")
            }
            EventKind::Refused { role, reason, .. } => format!("refused {role}: {reason}"),
            EventKind::Ended { ending } => format!("ended: {}", ending.into_str()),
            EventKind::Verified { verification } => {
                let failures: Vec<&str> = verification.failures().map(|c| c.detail.as_str()).collect();
                format!("verified {} items, failures: {failures:?}", verification.items.len())
            }
            EventKind::Judged { verdict, .. } => format!("judged {}, mean {}", verdict.overall, verdict.weighted_mean),
            EventKind::Finished { outcome } => format!("finished: {outcome:?}"),
        };
        let _ = writeln!(out, "{fork}{line}");
    }
    out
}

/// The processor time of all threads of this process. nextest runs each test in a process of its own. Wall-clock time would
/// also grow with what else the machine does.
pub struct ProcessorTime(Duration);

impl ProcessorTime {
    pub fn now() -> Self {
        Self(clock_gettime(ClockId::ProcessCPUTime).try_into().expect("a time since the process began"))
    }

    /// Fails with the beginning of `what` if more seconds were spent since.
    pub fn assert_took_at_most(&self, seconds: u64, what: &str) {
        let Self(now) = Self::now();
        let took = now.saturating_sub(self.0);
        assert!(took < Duration::from_secs(seconds), "{what:.200}: {took:?}");
    }
}
