//! Steps that play scenarios.

use std::sync::Arc;

use domain::role::Role;
use domain::workflow::Converse;

use super::Compiler;
use crate::plan::{self, Action};
use crate::types::Type;

impl Compiler<'_> {
    pub fn converse(&mut self, converse: &Converse, at: &str, guards: &[String]) -> Option<(Action, Type)> {
        let (scenario, of) = self.expression(&converse.scenario, &format!("{at}/scenario"), guards);
        self.expect(&of, &Type::Text, "the id of a scenario", &format!("{at}/scenario"));
        let persona = converse.persona.as_ref().map(|text| {
            let at = format!("{at}/persona");
            let (persona, of) = self.expression(text, &at, guards);
            self.expect(&of, &Type::Text.or_none(), "the name of a persona profile", &at);
            persona
        });
        let roles = Role::ALL.map(|role| {
            let at = format!("{at}/roles/{role}");
            (role, self.role_named(converse.role(role), "", &at))
        });
        self.find_cases(converse, at)?;
        Some((Action::Converse(Box::new(plan::Converse { scenario, persona, roles: roles.into() })), played()))
    }

    fn expect(&mut self, found: &Type, wanted: &Type, what: &str, at: &str) {
        if !found.fits(wanted) {
            self.problem(at, format!("is a {found}; {what} is expected"));
        }
    }

    /// The scenarios of the project, of which those that are named must be there.
    fn find_cases(&mut self, converse: &Converse, at: &str) -> Option<()> {
        let cases = match &self.cases {
            Some(cases) => Arc::clone(cases),
            None => match (self.around.cases)() {
                Ok(cases) if cases.is_empty() => {
                    self.problem(at, "plays scenarios, but the project has none");
                    return None;
                }
                Ok(cases) => Arc::clone(self.cases.insert(cases)),
                Err(reason) => {
                    self.problem(at, format!("plays scenarios, but {reason}"));
                    return None;
                }
            },
        };
        let scenario = literal(&converse.scenario).and_then(|id| cases.scenario(id).err());
        let persona = converse.persona.as_deref().and_then(literal).and_then(|name| cases.profile(name).err());
        for (field, message) in [("scenario", scenario), ("persona", persona)] {
            message.into_iter().for_each(|message| self.problem(&format!("{at}/{field}"), message));
        }
        Some(())
    }
}

/// The text of an expression that is nothing else.
fn literal(expression: &str) -> Option<&str> {
    let quoted = |quote: char| expression.trim().strip_prefix(quote)?.strip_suffix(quote);
    let text = quoted('"').or_else(|| quoted('\''))?;
    (!text.contains(['"', '\'', '\\'])).then_some(text)
}

/// What a conversation gives.
fn played() -> Type {
    let text = || Type::Text;
    let fields = [
        ("scenario", text()),
        ("playbook", text()),
        ("persona", text()),
        ("complexity", text()),
        ("accepted", Type::Boolean),
        ("verified", Type::Boolean.or_none()),
        ("reward", Type::Number.or_none()),
        ("blame", text().or_none()),
        ("reason", text()),
        ("ending", text().or_none()),
        ("scores", Type::Any),
        ("overall", Type::Number.or_none()),
        ("turns", Type::Number),
        ("tool_calls", Type::Number),
        ("messages", Type::list(Type::Any)),
        ("tools", Type::list(Type::Any)),
    ];
    Type::Record(fields.map(|(key, of)| (key.to_owned(), of)).into())
}
