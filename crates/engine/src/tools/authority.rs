//! Places in the world, as tools declare them: what a call may change (`writes`) and what a simulator sees (`reads`).

use domain::patch::{self, PatchOp};
use serde_json::{Map, Value};

use crate::world::{Node, World};

/// A pointer pattern. It covers the place it names and everything beneath.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Segment>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Key(String),
    /// `*`
    Any,
    /// `+`: a key that did not exist before the call.
    Fresh,
    /// `{name}`: the value of the argument.
    Argument(String),
}

impl Pattern {
    /// # Errors
    /// A text that is not a pointer.
    pub fn parse(text: &str) -> Result<Self, String> {
        let keys = patch::segments(text).ok_or_else(|| format!("`{text}` does not start with `/`"))?;
        let segments = keys.into_iter().map(|key| match key.as_str() {
            "*" => Segment::Any,
            "+" => Segment::Fresh,
            k if k.len() > 2 && k.starts_with('{') && k.ends_with('}') => {
                Segment::Argument(k[1..k.len() - 1].to_owned())
            }
            _ => Segment::Key(key),
        });
        Ok(Self(segments.collect()))
    }

    /// Names of the arguments that the pattern refers to.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|s| if let Segment::Argument(name) = s { Some(name.as_str()) } else { None })
    }

    /// Whether the pattern covers this path in a world before the call.
    fn covers(&self, path: &[String], arguments: &Map<String, Value>, before: &World) -> bool {
        if path.len() < self.0.len() {
            return false;
        }
        let mut at = Some(before.root());
        for (segment, key) in self.0.iter().zip(path) {
            let here = at.and_then(|node| node.child(key));
            let fits = match segment {
                Segment::Key(k) => k == key,
                Segment::Any => true,
                Segment::Fresh => here.is_none(),
                Segment::Argument(name) => arguments.get(name).is_some_and(|v| as_key(v) == *key),
            };
            if !fits {
                return false;
            }
            at = here;
        }
        true
    }

    /// Copies what the pattern covers from `from` into `into`.
    fn copy(&self, from: &Node, into: &mut Value, arguments: &Map<String, Value>) {
        copy(&self.0, from, into, arguments);
    }
}

/// The first operation of a patch that no pattern allows.
pub fn outside<'a>(
    patch: &'a [PatchOp],
    writes: &[Pattern],
    arguments: &Map<String, Value>,
    before: &World,
) -> Option<&'a PatchOp> {
    patch.iter().find(|op| {
        let path = patch::segments(op.path()).unwrap_or_default();
        !writes.iter().any(|pattern| pattern.covers(&path, arguments, before))
    })
}

/// The part of the world that a tool may see. Lists are shown whole.
pub fn view(world: &World, reads: &[Pattern], arguments: &Map<String, Value>) -> Value {
    let mut view = Value::Object(Map::new());
    for pattern in reads {
        pattern.copy(world.root(), &mut view, arguments);
    }
    view
}

fn copy(pattern: &[Segment], from: &Node, into: &mut Value, arguments: &Map<String, Value>) {
    let (Some((first, rest)), Node::Map(map)) = (pattern.split_first(), from) else {
        *into = from.to_json();
        return;
    };
    let Value::Object(target) = into else { return };
    for (key, child) in map {
        let wanted = match first {
            Segment::Key(k) => **key == **k,
            Segment::Any | Segment::Fresh => true,
            Segment::Argument(name) => arguments.get(name).is_some_and(|v| as_key(v) == **key),
        };
        if wanted {
            let slot = target.entry(key.to_string()).or_insert_with(|| Value::Object(Map::new()));
            copy(rest, child, slot, arguments);
        }
    }
}

/// An argument as a key of a record: texts as they are, numbers as written.
fn as_key(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn allowed(writes: &str, path: &str) -> bool {
        let world = World::new(&json!({"orders": {"o1": {"status": "open", "items": [1]}}, "disputes": {}}));
        let arguments = json!({"order_id": "o1"}).as_object().cloned().unwrap_or_default();
        let patch = [PatchOp::Add { path: path.into(), value: json!(1) }];
        outside(&patch, &[Pattern::parse(writes).expect("pattern")], &arguments, &world).is_none()
    }

    #[test]
    fn a_pattern_covers_its_place_and_beneath() {
        assert!(allowed("/orders/{order_id}/status", "/orders/o1/status"));
        assert!(!allowed("/orders/{order_id}/status", "/orders/o2/status"));
        assert!(!allowed("/orders/{order_id}/status", "/orders/o1"));
        assert!(allowed("/orders/*", "/orders/o1/items/0"));
        assert!(!allowed("/orders/*", "/orders"));
        assert!(!allowed("/orders/*", "/disputes/d1"));
        assert!(!allowed("/orders/{missing}", "/orders/o1"));
    }

    #[test]
    fn fresh_means_that_it_did_not_exist() {
        assert!(allowed("/disputes/+", "/disputes/d1"));
        assert!(allowed("/disputes/+", "/disputes/d1/status"));
        assert!(!allowed("/orders/+", "/orders/o1"));
        assert!(!allowed("/orders/+", "/orders/o1/status"));
        assert!(allowed("/orders/*/items/+", "/orders/o1/items/1"));
        assert!(!allowed("/orders/*/items/+", "/orders/o1/items/0"));
    }

    #[test]
    fn a_view_holds_nothing_else() {
        let world =
            World::new(&json!({"users": {"u1": {"name": "A", "pin": 1}, "u2": {"name": "B", "pin": 2}}, "log": [1]}));
        let arguments = json!({"id": "u1"}).as_object().cloned().unwrap_or_default();
        let see = |reads: &[&str]| {
            let reads: Vec<_> = reads.iter().map(|r| Pattern::parse(r).expect("pattern")).collect();
            view(&world, &reads, &arguments)
        };
        assert_eq!(see(&["/users/*/name"]), json!({"users": {"u1": {"name": "A"}, "u2": {"name": "B"}}}));
        assert_eq!(see(&["/users/{id}", "/log"]), json!({"users": {"u1": {"name": "A", "pin": 1}}, "log": [1]}));
        assert_eq!(see(&[]), json!({}));
    }
}
