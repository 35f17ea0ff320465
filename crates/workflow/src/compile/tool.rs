//! Steps that call a registered tool, and models that do.

use domain::workflow::{Tool, ToolCall, ToolKind};
use serde_json::Value;

use super::Compiler;
use crate::plan::{self, Action, Block, Expr, Place, Ref, Step};
use crate::types::Type;

impl Compiler<'_> {
    pub fn tool_call(&mut self, call: &ToolCall, at: &str, guards: &[String]) -> Option<(Action, Type)> {
        let Some((kind, name)) = call.called() else {
            self.problem(at, "needs either `server` (with `tool` and `arguments`) or `endpoint` (with `body`)");
            return None;
        };
        self.check_tool(call, kind, name, at);
        let message = match kind {
            ToolKind::Server => {
                let tool = Expr::Constant(Value::from(call.tool.clone()).into());
                let (arguments, _) = self.record(&call.arguments, &format!("{at}/arguments"), guards);
                vec![("tool".to_owned(), tool), ("arguments".to_owned(), arguments)]
            }
            ToolKind::Endpoint => {
                vec![("body".to_owned(), self.value(&call.body, &format!("{at}/body"), guards).0)]
            }
        };
        let (shape, of) = match &call.returns {
            Value::Null => (None, Type::Any),
            spec => self.shape(spec, &format!("{at}/returns")),
        };
        let (otherwise, of) = self.otherwise(call.otherwise.as_ref(), of, at, guards);
        let message = Expr::Record(message);
        let call = plan::ToolCall { name: name.to_owned(), message, shape, otherwise, by_model: false };
        Some((Action::Tool(Box::new(call)), of))
    }

    /// A tool of a model that is registered: the number of the block whose one step calls it.
    pub fn registered_tool(&mut self, name: &str, tool: &Tool, at: &str) -> Option<usize> {
        let (kind, registered) = tool.called()?;
        let (server, endpoint) = (tool.server.clone(), tool.endpoint.clone());
        let call = ToolCall { server, endpoint, tool: tool.tool.clone(), ..ToolCall::default() };
        self.check_tool(&call, kind, registered, at);
        if tool.description.trim().is_empty() {
            self.problem(at, format!("needs a `description`, from which the model learns what the {kind} is for"));
        }
        if tool.parameters.is_null() {
            self.problem(at, format!("needs `parameters`, the JSON Schema of what the {kind} is sent"));
        }
        let given = Expr::Path(Ref { up: 0, place: Place::Binding(0) }, Vec::new());
        let (binding, message) = match kind {
            ToolKind::Server => {
                let of_server = Expr::Constant(Value::from(call.tool).into());
                ("arguments", vec![("tool".to_owned(), of_server), ("arguments".to_owned(), given)])
            }
            ToolKind::Endpoint => ("body", vec![("body".to_owned(), given)]),
        };
        let message = Expr::Record(message);
        let mut reads = Vec::new();
        message.reads(&mut reads);
        let call =
            plan::ToolCall { name: registered.to_owned(), message, shape: None, otherwise: None, by_model: true };
        let action = Action::Tool(Box::new(call));
        let step = Step { name: name.to_owned(), when: None, barrier: None, action, reads };
        self.blocks.push(Block { bindings: vec![binding.to_owned()], steps: vec![step] });
        Some(self.blocks.len() - 1)
    }

    fn check_tool(&mut self, call: &ToolCall, kind: ToolKind, name: &str, at: &str) {
        let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !is_plain || name.is_empty() || name.len() > 64 {
            let field = if kind == ToolKind::Server { "server" } else { "endpoint" };
            let message = "is no name of a registered tool: expected lower-case letters, digits and `_`. Addresses \
                           belong in the file that registers tools";
            self.problem(&format!("{at}/{field}"), message);
        }
        if kind == ToolKind::Server && call.tool.as_ref().is_none_or(String::is_empty) {
            self.problem(at, "needs the `tool` of the server that is called");
        }
        let misplaced = match kind {
            ToolKind::Server => [("body", !call.body.is_null()), ("", false)],
            ToolKind::Endpoint => [("tool", call.tool.is_some()), ("arguments", !call.arguments.is_empty())],
        };
        for (field, _) in misplaced.iter().filter(|(_, misplaced)| *misplaced) {
            self.problem(&format!("{at}/{field}"), format!("does not belong to a call of an {kind}"));
        }
    }
}
