//! One conversation for each answer: the agent calls the tool, the simulator says it, and the transcript is searched.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::event::EventKind;
use domain::message::{Message, ToolCall};
use domain::persona::{Complexity, Persona, Speech};
use domain::playbook::{AgentStyle, UserStyle};
use domain::seed::Seed;
use domain::task::Task;
use engine::playbook::{Sources, compile};
use engine::{Case, ChatReply, Conversation, Judge, Playbook, World};
use serde_json::{Value, json};

use super::corpus::{Answer, Domain};

/// A playbook with one simulated tool for each schema.
pub struct LiarPlaybook {
    case: Arc<Case>,
}

pub struct ToolReply {
    pub passed: bool,
    pub reason: String,
}

impl LiarPlaybook {
    pub fn open(domain: &Domain) -> Self {
        let playbook = Arc::new(playbook(domain));
        let yaml = "id: s\nplaybook: liar\nintent: ask\ndescription: d\nuser_goal: g\nexpected_outcome: {told: [x]}\nscript: [{user: Hello}, {agent: Bye}]\n";
        let scenario = domain::parse("scenario.yaml", yaml).unwrap_or_else(|e| panic!("{e:?}"));
        Self { case: Arc::new(case(playbook, scenario, &domain.world)) }
    }

    pub fn reply_to(&self, answer: &Answer) -> ToolReply {
        let mut conversation = Conversation::new(Arc::clone(&self.case));
        conversation.act();
        conversation.hear(ChatReply { content: "Hello".into(), ..ChatReply::default() });
        let call = ToolCall::new("c".into(), answer.returns.clone(), answer.arguments.to_string());
        conversation.hear(ChatReply { tool_calls: vec![call], ..ChatReply::default() });
        let event = conversation.hear(ChatReply { content: answer.content.to_string(), ..ChatReply::default() });
        let reason = match event.map(|e| e.kind) {
            Some(EventKind::Refused { reason, .. }) => reason,
            _ => String::new(),
        };
        // One attempt is allowed: what is refused is answered by the program.
        if !conversation.state().transcript.refused().is_empty() {
            conversation.act();
        }
        let said = conversation.state().agent().messages.iter().rev().find_map(|message| match message {
            Message::Tool { content, .. } => Some(content),
            _ => None,
        });
        let said = said.unwrap_or_else(|| panic!("no answer to {} {reason}", answer.content));
        let whole = answer.content.to_string();
        let passed = *said == whole;
        assert!(passed || said.starts_with("Error: the service"), "{said}");
        ToolReply { passed, reason }
    }
}

fn playbook(domain: &Domain) -> Playbook {
    let reads: Vec<String> = domain.world.as_object().expect("a world").keys().map(|name| format!("/{name}")).collect();
    let tools: Vec<Value> = domain
        .schemas
        .iter()
        .map(|(name, returns)| {
            json!({"name": name, "description": "Answers.", "parameters": {"type": "object"}, "simulate": "model",
                   "reads": reads, "template": "t.md", "returns": returns})
        })
        .collect();
    // JSON is YAML, too.
    let spec = json!({
        "name": "liar", "title": "t", "description": "d", "prompt": "p.md", "policy": "p.md", "intents": ["ask"],
        "clock": "2026-03-02T09:00:00Z", "judge": "default", "clarification": "What?",
        "limits": {"user_turns": 4, "agent_steps": 3, "attempts": 1},
        "world": {"schema": "w.yaml", "base": "b.yaml", "invariants": []}, "tools": tools,
    });
    let files: BTreeMap<String, String> = [
        ("playbook.yaml", spec.to_string()),
        ("p.md", "p".into()),
        ("t.md", "t".into()),
        ("w.yaml", "type: object".into()),
        ("b.yaml", domain.world.to_string()),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .into();
    compile(&Sources { folder: "liar", files: &files }).unwrap_or_else(|e| panic!("{e:?}"))
}

fn case(playbook: Arc<Playbook>, scenario: domain::scenario::Scenario, world: &Value) -> Case {
    let judge = "name: default\ndescription: d\nprompt: p\naccept_from: 7\ncriteria:\n  - {name: goal, measures: m, anchors: {'0': bad, '3': poor, '6': fair, '9': fine, '10': good}, weight: 1}\n";
    let files = [("judge.yaml", judge), ("p", "p")].map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    let persona = Persona { profile: String::new(), demographics: [].into(), traits: [].into(), emotions: [].into() };
    Case {
        seed: Seed::new(1, "liar", 0),
        playbook,
        scenario: Arc::new(scenario),
        judge: Arc::new(Judge::compile("judge", &files).unwrap_or_else(|e| panic!("{e:?}"))),
        initial: Arc::new(World::new(world).into()),
        persona: persona.into(),
        guidance: Vec::new(),
        complexity: Complexity::Medium,
        speech: Speech::default(),
        agent_style: AgentStyle::FunctionCalling,
        user_style: UserStyle::Text,
        variant: None,
        judges: 1,
        sample: 0,
        attempt: 1,
        faults: Vec::new(),
    }
}
