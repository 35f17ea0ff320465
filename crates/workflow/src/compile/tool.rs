//! Steps that call a registered tool.

use domain::workflow::{ToolCall, ToolKind};
use serde_json::Value;

use super::Compiler;
use crate::plan::{self, Action, Expr};
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
        let call = plan::ToolCall { name: name.to_owned(), message: Expr::Record(message), shape, otherwise };
        Some((Action::Tool(Box::new(call)), of))
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
