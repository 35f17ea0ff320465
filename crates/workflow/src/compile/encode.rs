//! Steps that ask embedding models and rerankers.

use domain::workflow::{Embed, Rerank};
use serde_json::Value;

use super::Compiler;
use crate::plan::{self, Action, Expr};
use crate::types::Type;

impl Compiler<'_> {
    pub fn embed(&mut self, embed: &Embed, at: &str, guards: &[String]) -> (Action, Type) {
        let role = self.role_named(&embed.role, "", &format!("{at}/role"));
        let (texts, of) = self.expression(&embed.texts, &format!("{at}/texts"), guards);
        let vector = Type::list(Type::Number);
        let of = match of {
            Type::Any => Type::Any,
            Type::Text => vector,
            of if of.item().is_some_and(|item| item.fits(&Type::Text)) => Type::list(vector),
            other => {
                self.problem(&format!("{at}/texts"), format!("is a {other}; a text or a list of texts is expected"));
                Type::Any
            }
        };
        let (otherwise, of) = self.otherwise(embed.otherwise.as_ref(), of, at, guards);
        (Action::Embed(plan::Embed { role, texts, otherwise }), of)
    }

    pub fn rerank(&mut self, rerank: &Rerank, at: &str, guards: &[String]) -> (Action, Type) {
        let role = self.role_named(&rerank.role, "", &format!("{at}/role"));
        let (query, of) = self.expression(&rerank.query, &format!("{at}/query"), guards);
        if !of.fits(&Type::Text) {
            self.problem(&format!("{at}/query"), format!("is a {of}; a text is expected"));
        }
        let (documents, of) = self.expression(&rerank.documents, &format!("{at}/documents"), guards);
        let document = of.item().filter(has_text).unwrap_or_else(|| {
            let message = format!("is a {of}; a list of texts, or of records with a `text`, is expected");
            self.problem(&format!("{at}/documents"), message);
            Type::Any
        });
        let fields = [("index", Type::Number), ("score", Type::Number), ("document", document)];
        let of = Type::list(Type::Record(fields.map(|(key, of)| (key.to_owned(), of)).into()));
        let (otherwise, of) = self.otherwise(rerank.otherwise.as_ref(), of, at, guards);
        (Action::Rerank(plan::Rerank { role, query, documents, k: rerank.k as usize, otherwise }), of)
    }

    /// The value of a step that got no usable answer, and a type that its value has in any case.
    pub fn otherwise(&mut self, spec: Option<&Value>, of: Type, at: &str, guards: &[String]) -> (Option<Expr>, Type) {
        let Some(spec) = spec else { return (None, of) };
        let (value, other) = self.value(spec, &format!("{at}/otherwise"), guards);
        (Some(value), of.unite(&other))
    }
}

/// Whether a document is a text, or a record that has one.
fn has_text(document: &Type) -> bool {
    match document {
        Type::Record(fields) => fields.get("text").is_some_and(|text| text.fits(&Type::Text)),
        other => other.fits(&Type::Text),
    }
}
