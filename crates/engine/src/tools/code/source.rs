//! What an author's source is compiled as, and the functions that it defines.

mod rewriting;

use starlark::syntax::{AstModule, Dialect};
use starlark_syntax::syntax::ast::{AstStmt, StmtP};

use super::EXPRESSION_FILE;
use super::errors::Fault;
use super::operators::OPERATORS;
use crate::limits::MOST_EXPRESSION_BYTES;
use rewriting::{RewriteRefusal, Rewriting};

/// # Errors
/// It is longer than `most` bytes, nests too deep, or is no Starlark.
pub fn parse(file: &str, text: String, most: usize) -> Result<AstModule, Fault> {
    if text.len() > most {
        let message = format!("is {} bytes long; at most {most} are read", text.len());
        return Err(Fault { line: None, message });
    }
    let rewritten = match Rewriting::of(file, &text) {
        Ok(rewriting) => rewriting.done(),
        // The parser says why.
        Err(RewriteRefusal::NoStarlark) => text,
        Err(RewriteRefusal::TooMuch(fault)) => return Err(fault),
    };
    let mut ast = AstModule::parse(file, rewritten, &dialect()).map_err(|e| Fault::of(&e))?;
    let operators = OPERATORS.map(|(operator, function)| (operator.to_owned(), function.to_owned()));
    ast.replace_binary_operators(&operators.into());
    Ok(ast)
}

/// An expression as it is written, for what reads it and does not evaluate it.
///
/// # Errors
/// It is too long, nests too deep, or is no Starlark.
pub fn expression(text: &str) -> Result<AstModule, Fault> {
    let source = format!("({}\n)\n", text.trim());
    parse(EXPRESSION_FILE, source.clone(), MOST_EXPRESSION_BYTES)?;
    AstModule::parse(EXPRESSION_FILE, source, &dialect()).map_err(|e| Fault::of(&e))
}

/// Standard Starlark with f-strings, and with nothing from files: `load` is off.
fn dialect() -> Dialect {
    Dialect { enable_load: false, enable_f_strings: true, ..Dialect::Standard }
}

/// A function of a file.
#[derive(Debug)]
pub struct Definition {
    pub name: String,
    /// Counted from 1.
    pub line: usize,
    /// Whether it returns a value somewhere.
    pub answers: bool,
}

pub fn definitions(ast: &AstModule) -> Vec<Definition> {
    let definition = |statement: &AstStmt| match &statement.node {
        StmtP::Def(def) => Some(Definition {
            name: def.name.node.ident.clone(),
            line: ast.file_span(def.name.span).resolve_span().begin.line + 1,
            answers: returns(&def.body),
        }),
        _ => None,
    };
    let mut found: Vec<Definition> = definition(ast.statement()).into_iter().collect();
    ast.statement().visit_stmt(|statement| found.extend(definition(statement)));
    found
}

fn returns(statement: &AstStmt) -> bool {
    let mut found = matches!(statement.node, StmtP::Return(Some(_)));
    if !matches!(statement.node, StmtP::Def(_)) {
        statement.visit_stmt(|inner| found |= returns(inner));
    }
    found
}
