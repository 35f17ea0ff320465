//! Where the values of a reply, and of what it changed, come from.

use domain::origin::Origin;
use domain::patch::PatchOp;
use domain::playbook::Simulate;
use serde_json::{Map, Value};

use super::Attempt;
use crate::tools::authority;
use crate::tools::code::fresh_id;
use crate::tools::grounding::places::{Place, Places, each, last};
use crate::world::World;

/// Fresh ids of one call that are recognised.
const MOST_IDS: u32 = 100;
/// The day of a moment, and its minute.
const PARTS_OF_A_MOMENT: [usize; 2] = [10, 16];

/// A value and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedOrigin {
    /// A JSON pointer: into the reply, or into the world for what was written.
    pub pointer: String,
    pub value: Value,
    pub origin: Origin,
}

/// A call that was made, with the world before it.
#[derive(Debug)]
pub(super) struct RecordedCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub before: World,
    pub id_seed: String,
}

impl Attempt {
    /// Of each value in the content that the last call was answered with; a text that is no JSON is one value.
    pub fn origins_of_content(&self, content: &str) -> Vec<TracedOrigin> {
        let content = serde_json::from_str(content).unwrap_or_else(|_| Value::String(content.to_owned()));
        self.origins([("", &content)].into_iter())
    }

    /// Of each value that the last call wrote.
    pub fn origins_of_patch(&self, patch: &[PatchOp]) -> Vec<TracedOrigin> {
        self.origins(patch.iter().filter_map(|op| Some((op.path(), op.value()?))))
    }

    fn origins<'a>(&self, values: impl Iterator<Item = (&'a str, &'a Value)>) -> Vec<TracedOrigin> {
        let Some((made, tracing)) = self.made.as_ref().and_then(|made| Some((made, self.tracing(made)?))) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (at, value) in values {
            each(value, at, &mut |pointer, value| {
                let origin = tracing.origin(made, pointer, value);
                found.push(TracedOrigin { pointer: pointer.to_owned(), value: value.clone(), origin });
            });
        }
        found
    }

    fn tracing(&self, made: &RecordedCall) -> Option<Tracing> {
        let tool = self.playbook().tool(&made.tool)?;
        let view = match tool.simulate() {
            // A function has the whole world before it.
            Simulate::Code => made.before.to_json(),
            _ => {
                let places: Vec<_> = tool.reads.iter().chain(&tool.writes).cloned().collect();
                authority::view(&made.before, &places, &made.arguments)
            }
        };
        Some(Tracing {
            places: Places::of_call(&view, &made.arguments),
            now: self.conversation.case().now(),
            otherwise: match tool.simulate() {
                Simulate::Code => Origin::Function,
                Simulate::Constant | Simulate::Terminal => Origin::Playbook,
                Simulate::Model | Simulate::Agent => Origin::Model,
                Simulate::Service => Origin::Service,
            },
        })
    }
}

struct Tracing {
    places: Places,
    now: String,
    /// Of what comes from nowhere else.
    otherwise: Origin,
}

impl Tracing {
    fn origin(&self, made: &RecordedCall, pointer: &str, value: &Value) -> Origin {
        if self.otherwise == Origin::Playbook {
            return Origin::Playbook;
        }
        if let Value::String(text) = value {
            if is_fresh(&made.id_seed, text) {
                return Origin::FreshId;
            }
            if *text == self.now || PARTS_OF_A_MOMENT.iter().any(|end| self.now.get(..*end) == Some(text)) {
                return Origin::Clock;
            }
        }
        match self.places.find(last(pointer), value) {
            Some(Place::Argument(pointer)) => Origin::Argument { pointer },
            Some(Place::Record { pointer, others }) => Origin::World { pointer, others },
            None => self.otherwise.clone(),
        }
    }
}

/// Whether the call could have made this id.
fn is_fresh(id_seed: &str, text: &str) -> bool {
    let digits = |text: &str| text.len() == 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let Some((prefix, _)) = text.rsplit_once('_').filter(|(_, end)| digits(end)) else { return false };
    (0..MOST_IDS).any(|n| fresh_id(id_seed, prefix, n) == text)
}
