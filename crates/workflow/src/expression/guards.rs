//! Finds the paths that cannot be `None` where a condition holds.

use starlark_syntax::syntax::ast::{AstExpr, AstLiteral, BinOp, ExprP};

/// `a.b.c`, or `a["b"].c`. The key of an item, as in `a[0]`, is `[0]`.
pub fn path_of(expression: &AstExpr) -> Option<Vec<String>> {
    let (of, key) = match &expression.node {
        ExprP::Identifier(name) => return Some(vec![name.node.ident.clone()]),
        ExprP::Dot(of, key) => (&**of, key.node.clone()),
        ExprP::Index(both) => match &both.1.node {
            ExprP::Literal(AstLiteral::String(key)) => (&both.0, key.node.clone()),
            ExprP::Literal(AstLiteral::Int(place)) => (&both.0, format!("[{}]", place.node)),
            _ => return None,
        },
        _ => return None,
    };
    let mut path = path_of(of)?;
    path.push(key);
    Some(path)
}

/// A path as expressions have it: `a.b[0]`.
pub fn path_text(path: &[String]) -> String {
    let mut text = String::new();
    for key in path {
        if !text.is_empty() && !key.starts_with('[') {
            text.push('.');
        }
        text += key;
    }
    text
}

/// Paths that are not `None` if a condition holds, or if it does not.
pub fn truths(condition: &AstExpr, holds: bool) -> Vec<String> {
    let both = |a: &AstExpr, b: &AstExpr| truths(a, holds).into_iter().chain(truths(b, holds)).collect();
    match &condition.node {
        ExprP::Not(of) => truths(of, !holds),
        ExprP::Op(a, BinOp::And, b) if holds => both(a, b),
        ExprP::Op(a, BinOp::Or, b) if !holds => both(a, b),
        ExprP::Op(a, operator @ (BinOp::Equal | BinOp::NotEqual), b) => {
            let other = if is_none(b) {
                a
            } else if is_none(a) {
                b
            } else {
                return Vec::new();
            };
            let present = (*operator == BinOp::NotEqual) == holds;
            if present { path_of(other).map(|path| path_text(&path)).into_iter().collect() } else { Vec::new() }
        }
        _ if holds => path_of(condition).map(|path| path_text(&path)).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn is_none(expression: &AstExpr) -> bool {
    matches!(&expression.node, ExprP::Identifier(name) if name.node.ident == "None")
}
