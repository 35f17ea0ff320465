//! Expressions and values of a document, with the names that they read.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::Compiler;
use crate::expression::infer;
use crate::plan::Expr;
use crate::types::Type;

/// An expression that is compiled when all of them are known.
pub struct PendingExpression {
    pub name: String,
    pub text: String,
    pub sees: Vec<String>,
    pub pointer: String,
}

impl Compiler<'_> {
    /// `guarded`: what is known not to be `None`.
    pub fn expression(&mut self, text: &str, pointer: &str, guarded: &[String]) -> (Expr, Type) {
        let inferred = infer(text, &self.scope(), guarded);
        for problem in inferred.problems {
            self.problem(pointer, problem);
        }
        if let Some(path) = inferred.path
            && let Some(of) = self.reference(&path[0])
        {
            return (Expr::Path(of, path[1..].to_vec()), inferred.of);
        }
        let sees: Vec<(String, _)> =
            inferred.names.into_iter().filter_map(|name| Some((name.clone(), self.reference(&name)?))).collect();
        let name = format!("e{}", self.expressions.len());
        self.expressions.push(PendingExpression {
            name: name.clone(),
            text: text.to_owned(),
            sees: sees.iter().map(|(name, _)| name.clone()).collect(),
            pointer: pointer.to_owned(),
        });
        (Expr::Code(name, sees.into_iter().map(|(_, of)| of).collect()), inferred.of)
    }

    /// A condition, and what is known not to be `None` where it holds.
    pub fn condition(&mut self, text: &str, pointer: &str, guarded: &[String]) -> (Expr, Vec<String>) {
        let guards = infer(text, &self.scope(), guarded).guards;
        (self.expression(text, pointer, guarded).0, guards)
    }

    /// What is known not to be `None` where a condition does not hold.
    pub fn if_not(&self, text: &str) -> Vec<String> {
        infer(text, &self.scope(), &[]).guards_if_not
    }

    /// A text is an expression; a mapping or a list holds values; everything else stands for itself.
    pub fn value(&mut self, spec: &Value, pointer: &str, guarded: &[String]) -> (Expr, Type) {
        match spec {
            Value::String(text) => self.expression(text, pointer, guarded),
            // An empty one is what is filled later.
            Value::Object(fields) if fields.is_empty() => (Expr::Constant(spec.clone().into()), Type::Any),
            Value::Object(fields) => self.record(fields, pointer, guarded),
            Value::Array(items) => {
                let (mut all, mut of) = (Vec::new(), None::<Type>);
                for (i, item) in items.iter().enumerate() {
                    let (value, own) = self.value(item, &format!("{pointer}/{i}"), guarded);
                    of = Some(of.map_or_else(|| own.clone(), |of| of.unite(&own)));
                    all.push(value);
                }
                (Expr::List(all), Type::list(of.unwrap_or(Type::Any)))
            }
            constant => {
                let of = match constant {
                    Value::Null => Type::Null,
                    Value::Bool(_) => Type::Boolean,
                    _ => Type::Number,
                };
                (Expr::Constant(constant.clone().into()), of)
            }
        }
    }

    pub fn record(&mut self, fields: &Map<String, Value>, pointer: &str, guarded: &[String]) -> (Expr, Type) {
        let (mut all, mut types) = (Vec::new(), IndexMap::new());
        for (key, spec) in fields {
            let (value, of) = self.value(spec, &domain::patch::join(pointer, key), guarded);
            // A stream that is part of a whole is whole.
            types.insert(key.clone(), of.whole());
            all.push((key.clone(), value));
        }
        (Expr::Record(all), Type::Record(types))
    }
}
