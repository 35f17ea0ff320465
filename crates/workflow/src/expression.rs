//! Expressions of a workflow: which names they use, and what type their value has.

use domain::problem::{did_you_mean, listed};
use engine::tools::code::{builtin_names, source};
use indexmap::{IndexMap, IndexSet};
use starlark_syntax::syntax::ast::{
    ArgumentP, AssignTargetP, AstExpr, AstLiteral, BinOp, ClauseP, ExprP, ForClauseP, StmtP,
};

use self::guards::{path_of, path_text, truths};
use crate::types::Type;

mod guards;
mod methods;

/// The names that an expression may use.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Inputs, items, states and steps, with their types.
    pub values: IndexMap<String, Type>,
    /// Functions of `functions.star`.
    pub functions: Vec<String>,
    /// Names that exist elsewhere in the document, with why they cannot be used here.
    pub elsewhere: Vec<(String, String)>,
    /// Every name is a value.
    pub is_open: bool,
}

impl Scope {
    /// For an expression of which only the names are asked.
    pub fn anything() -> Self {
        Self { is_open: true, ..Self::default() }
    }
}

/// What is known of an expression before it is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Inferred {
    pub of: Type,
    /// The values that it uses, each once.
    pub names: Vec<String>,
    /// The name and the keys, if it is nothing but that.
    pub path: Option<Vec<String>>,
    pub problems: Vec<String>,
    /// Paths that are there where it is true, and where it is not.
    pub guards: Vec<String>,
    pub guards_if_not: Vec<String>,
}

impl Inferred {
    fn broken(problem: String) -> Self {
        Self {
            of: Type::Any,
            names: Vec::new(),
            path: None,
            problems: vec![problem],
            guards: Vec::new(),
            guards_if_not: Vec::new(),
        }
    }
}

/// `guarded`: paths that are known not to be `None` here.
pub fn infer(text: &str, scope: &Scope, guarded: &[String]) -> Inferred {
    let ast = match source::expression(text) {
        Ok(ast) => ast,
        Err(fault) => return Inferred::broken(format!("`{}`: {}", shortened(text), fault.message)),
    };
    let Some(expression) = expression_of(&ast.statement().node) else {
        return Inferred::broken(format!("`{}` is no expression", shortened(text)));
    };
    let mut inference = Inference {
        scope,
        locals: Vec::new(),
        guarded: guarded.to_vec(),
        names: IndexSet::new(),
        problems: Vec::new(),
    };
    let of = inference.type_of(expression);
    // Only keys can be looked up without code.
    let has_keys_only = |path: &[String]| path.iter().all(|key| !key.starts_with('['));
    let path = path_of(expression).filter(|path| scope.values.contains_key(&path[0]) && has_keys_only(path));
    Inferred {
        of,
        names: inference.names.into_iter().collect(),
        path,
        problems: inference.problems,
        guards: truths(expression, true),
        guards_if_not: truths(expression, false),
    }
}

fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("");
    if line.chars().count() > 60 { line.chars().take(57).collect::<String>() + "..." } else { line.to_owned() }
}

fn expression_of<P: starlark_syntax::syntax::ast::AstPayload>(
    statement: &StmtP<P>,
) -> Option<&starlark_syntax::syntax::ast::AstExprP<P>> {
    match statement {
        StmtP::Expression(expression) => Some(expression),
        StmtP::Statements(all) => match &all[..] {
            [only] => expression_of(&only.node),
            _ => None,
        },
        _ => None,
    }
}

struct Inference<'a> {
    scope: &'a Scope,
    /// Names of comprehensions and lambdas, the innermost last.
    locals: Vec<(String, Type)>,
    guarded: Vec<String>,
    names: IndexSet<String>,
    problems: Vec<String>,
}

impl Inference<'_> {
    fn type_of(&mut self, expression: &AstExpr) -> Type {
        let known = self.bare_type(expression);
        match path_of(expression) {
            Some(path) if self.guarded.contains(&path_text(&path)) => known.present(),
            _ => known,
        }
    }

    fn bare_type(&mut self, expression: &AstExpr) -> Type {
        match &expression.node {
            ExprP::Identifier(name) => self.named(&name.node.ident),
            ExprP::Literal(literal) => match literal {
                AstLiteral::Int(_) | AstLiteral::Float(_) => Type::Number,
                AstLiteral::String(_) => Type::Text,
                _ => Type::Any,
            },
            ExprP::FString(text) => {
                text.node.expressions.iter().for_each(|inner| drop(self.type_of(inner)));
                Type::Text
            }
            ExprP::Dot(of, key) => self.field(of, &key.node),
            ExprP::Index(both) => self.indexed(&both.0, &both.1),
            ExprP::Slice(of, from, to, step) => {
                [from, to, step].into_iter().flatten().for_each(|bound| drop(self.type_of(bound)));
                self.used(of).whole()
            }
            ExprP::Call(function, arguments) => {
                let all = arguments.args.iter();
                let placed = all.take_while(|argument| matches!(argument.node, ArgumentP::Positional(_))).count();
                let arguments: Vec<&AstExpr> = arguments.args.iter().map(|argument| argument.node.expr()).collect();
                self.called(function, &arguments, placed)
            }
            ExprP::Not(of) => {
                self.type_of(of);
                Type::Boolean
            }
            ExprP::Minus(of) | ExprP::Plus(of) | ExprP::BitNot(of) => {
                self.used(of);
                Type::Number
            }
            ExprP::Op(a, operator, b) => self.operation(a, *operator, b),
            ExprP::If(parts) => {
                let (condition, yes, no) = &**parts;
                self.type_of(condition);
                let yes = self.guarding(truths(condition, true), |here| here.type_of(yes));
                let no = self.guarding(truths(condition, false), |here| here.type_of(no));
                yes.unite(&no)
            }
            ExprP::List(items) => self.items(items),
            ExprP::Tuple(items) => {
                items.iter().for_each(|item| drop(self.type_of(item)));
                Type::Any
            }
            ExprP::Dict(pairs) => self.dict(pairs),
            ExprP::ListComprehension(body, first, clauses) => {
                Type::list(self.comprehension(first, clauses, |here| here.type_of(body)))
            }
            ExprP::DictComprehension(body, first, clauses) => {
                self.comprehension(first, clauses, |here| {
                    here.type_of(&body.0);
                    here.type_of(&body.1)
                });
                Type::Any
            }
            ExprP::Lambda(lambda) => {
                let (before, guarded) = (self.locals.len(), self.guarded.clone());
                let names = lambda.params.iter().filter_map(|parameter| parameter.node.ident());
                self.locals.extend(names.map(|name| (name.node.ident.clone(), Type::Any)));
                self.forget_guards_of_locals(before);
                self.type_of(&lambda.body);
                self.locals.truncate(before);
                self.guarded = guarded;
                Type::Any
            }
            ExprP::Index2(parts) => {
                self.type_of(&parts.0);
                Type::Any
            }
        }
    }

    fn named(&mut self, name: &str) -> Type {
        if let Some((_, of)) = self.locals.iter().rev().find(|(local, _)| local == name) {
            return of.clone();
        }
        if let Some(of) = self.scope.values.get(name) {
            self.names.insert(name.to_owned());
            return of.clone();
        }
        match name {
            "True" | "False" => return Type::Boolean,
            "None" => return Type::Null,
            _ => {}
        }
        if self.scope.is_open {
            self.names.insert(name.to_owned());
            return Type::Any;
        }
        if self.scope.functions.iter().any(|function| function == name) || builtin_names().contains(&name) {
            return Type::Any;
        }
        let elsewhere = self.scope.elsewhere.iter().find(|(other, _)| other == name);
        self.problems.push(match elsewhere {
            Some((_, why)) => format!("`{name}` cannot be used here: {why}"),
            None => {
                let known = || self.scope.values.keys().chain(&self.scope.functions).map(String::as_str);
                format!("there is no `{name}` here{}; known: {}", did_you_mean(name, known()), listed(known()))
            }
        });
        Type::Any
    }

    /// The type of a value whose inside is used.
    fn used(&mut self, of: &AstExpr) -> Type {
        let known = self.type_of(of);
        if let Type::Optional(present) = &known {
            let what = path_of(of).map_or_else(|| "the value".to_owned(), |path| format!("`{}`", path_text(&path)));
            self.problems.push(format!(
                "{what} may be None here; say what holds then, such as `... if {} != None else ...`",
                what.trim_matches('`')
            ));
            return (**present).clone();
        }
        known
    }

    fn field(&mut self, of: &AstExpr, key: &str) -> Type {
        let whole = self.used(of);
        let missing = match &whole {
            Type::Record(fields) => match fields.get(key) {
                Some(of) => return of.clone(),
                None => {
                    let hint = did_you_mean(key, fields.keys().map(String::as_str));
                    format!("there is no `{key}` in {whole}{hint}")
                }
            },
            Type::Any => return Type::Any,
            _ => format!("a {whole} has no `{key}`"),
        };
        self.problems.push(missing);
        Type::Any
    }

    fn indexed(&mut self, of: &AstExpr, index: &AstExpr) -> Type {
        self.type_of(index);
        let whole = self.used(of);
        match (&whole, &index.node) {
            (Type::Record(_), ExprP::Literal(AstLiteral::String(key))) => self.field(of, &key.node),
            (Type::List(item) | Type::Stream(item), _) => (**item).clone(),
            (Type::Text, _) => Type::Text,
            (Type::Number | Type::Boolean | Type::Null, _) => {
                self.problems.push(format!("a {whole} has no items"));
                Type::Any
            }
            _ => Type::Any,
        }
    }

    /// `placed`: how many of the arguments, from the first one on, have no name and no star.
    fn called(&mut self, function: &AstExpr, arguments: &[&AstExpr], placed: usize) -> Type {
        match &function.node {
            ExprP::Identifier(name) => {
                let first = arguments.first().map(|first| match name.node.ident.as_str() {
                    "len" | "sorted" | "reversed" | "list" | "sum" | "min" | "max" | "any" | "all" | "enumerate"
                    | "int" | "float" | "abs" | "round" => self.used(first),
                    _ => self.type_of(first),
                });
                arguments.iter().skip(1).for_each(|argument| drop(self.type_of(argument)));
                self.named(&name.node.ident);
                let is_local = self.locals.iter().any(|(local, _)| *local == name.node.ident);
                if !is_local && self.scope.values.contains_key(&name.node.ident) {
                    let message =
                        format!("`{0}` is a value here and cannot be called; rename the value", name.node.ident);
                    self.problems.push(message);
                    return Type::Any;
                }
                if self.scope.functions.contains(&name.node.ident) {
                    return Type::Any;
                }
                let found = methods::builtin(&name.node.ident, first.as_ref());
                self.problems.extend(found.as_ref().err().cloned());
                found.unwrap_or(Type::Any)
            }
            ExprP::Dot(of, method) => {
                let whole = self.used(of);
                let of_text = if whole == Type::Text { methods::takes(&method.node).min(placed) } else { 0 };
                for (i, argument) in arguments.iter().enumerate() {
                    if i < of_text {
                        let given = self.used(argument);
                        self.problems.extend(methods::argument(&method.node, &given).err());
                    } else {
                        self.type_of(argument);
                    }
                }
                let found = methods::method(&whole, &method.node);
                self.problems.extend(found.as_ref().err().cloned());
                found.unwrap_or(Type::Any)
            }
            _ => {
                self.type_of(function);
                arguments.iter().for_each(|argument| drop(self.type_of(argument)));
                Type::Any
            }
        }
    }

    fn operation(&mut self, a: &AstExpr, operator: BinOp, b: &AstExpr) -> Type {
        match operator {
            BinOp::And => {
                let left = self.type_of(a);
                let right = self.guarding(truths(a, true), |here| here.type_of(b));
                left.unite(&right)
            }
            BinOp::Or => {
                let left = self.type_of(a);
                let right = self.guarding(truths(a, false), |here| here.type_of(b));
                left.present().unite(&right)
            }
            BinOp::Equal | BinOp::NotEqual => {
                self.type_of(a);
                self.type_of(b);
                Type::Boolean
            }
            BinOp::In | BinOp::NotIn => {
                self.type_of(a);
                self.used(b);
                Type::Boolean
            }
            BinOp::Less | BinOp::Greater | BinOp::LessOrEqual | BinOp::GreaterOrEqual => {
                let (left, right) = (self.used(a), self.used(b));
                self.alike("compares", &left, &right);
                Type::Boolean
            }
            BinOp::Add => {
                let (left, right) = (self.used(a), self.used(b));
                self.alike("adds", &left, &right);
                left.unite(&right)
            }
            BinOp::Percent | BinOp::Multiply => {
                let (left, right) = (self.used(a), self.used(b));
                match (&left, &right) {
                    (Type::Number, Type::Number) => Type::Number,
                    (Type::Text, _) => Type::Text,
                    _ => left.unite(&right),
                }
            }
            BinOp::BitOr | BinOp::BitAnd | BinOp::BitXor | BinOp::Subtract => match (self.used(a), self.used(b)) {
                (Type::Number, Type::Number) => Type::Number,
                // Of a key that both have, the value on the right counts.
                (Type::Record(left), Type::Record(right)) if operator == BinOp::BitOr => {
                    Type::Record(left.into_iter().chain(right).collect())
                }
                // Sets have these operators, too.
                _ => Type::Any,
            },
            _ => {
                self.used(a);
                self.used(b);
                Type::Number
            }
        }
    }

    fn alike(&mut self, verb: &str, a: &Type, b: &Type) {
        let known = |of: &Type| *of != Type::Any;
        let lists = |of: &Type| matches!(of, Type::List(_) | Type::Stream(_));
        if known(a) && known(b) && a != b && !(lists(a) && lists(b)) {
            self.problems.push(format!("it {verb} a {a} and a {b}"));
        }
    }

    fn items(&mut self, items: &[AstExpr]) -> Type {
        let types: Vec<Type> = items.iter().map(|item| self.type_of(item)).collect();
        let mut types = types.into_iter();
        Type::list(types.next().map_or(Type::Any, |first| types.fold(first, |a, b| a.unite(&b))))
    }

    fn dict(&mut self, pairs: &[(AstExpr, AstExpr)]) -> Type {
        let fields: Vec<Option<(String, Type)>> = pairs
            .iter()
            .map(|(key, value)| {
                self.type_of(key);
                let of = self.type_of(value);
                match &key.node {
                    ExprP::Literal(AstLiteral::String(key)) => Some((key.node.clone(), of)),
                    _ => None,
                }
            })
            .collect();
        if fields.is_empty() {
            return Type::Any;
        }
        fields.into_iter().collect::<Option<IndexMap<_, _>>>().map_or(Type::Any, Type::Record)
    }

    fn comprehension(
        &mut self,
        first: &ForClauseP<starlark_syntax::syntax::ast::AstNoPayload>,
        clauses: &[ClauseP<starlark_syntax::syntax::ast::AstNoPayload>],
        body: impl FnOnce(&mut Self) -> Type,
    ) -> Type {
        let (locals, guarded) = (self.locals.len(), self.guarded.clone());
        self.bind(first);
        for clause in clauses {
            match clause {
                ClauseP::For(inner) => self.bind(inner),
                ClauseP::If(condition) => {
                    self.type_of(condition);
                    self.guarded.extend(truths(condition, true));
                }
            }
        }
        let of = body(self);
        self.locals.truncate(locals);
        self.guarded = guarded;
        of
    }

    fn bind(&mut self, clause: &ForClauseP<starlark_syntax::syntax::ast::AstNoPayload>) {
        let over = self.used(&clause.over);
        let item = over.item().unwrap_or_else(|| {
            if !matches!(over, Type::Record(_)) {
                self.problems.push(format!("a {over} has no items to go through"));
            }
            Type::Any
        });
        let before = self.locals.len();
        bind_target(&clause.var.node, item, &mut self.locals);
        self.forget_guards_of_locals(before);
    }

    /// What is known of a name is not known of a new local of the same name.
    fn forget_guards_of_locals(&mut self, first: usize) {
        let new = &self.locals[first..];
        self.guarded.retain(|path| new.iter().all(|(name, _)| path.split(['.', '[']).next() != Some(name.as_str())));
    }

    fn guarding<T>(&mut self, paths: Vec<String>, inside: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.guarded.len();
        self.guarded.extend(paths);
        let found = inside(self);
        self.guarded.truncate(before);
        found
    }
}

fn bind_target(
    target: &AssignTargetP<starlark_syntax::syntax::ast::AstNoPayload>,
    item: Type,
    locals: &mut Vec<(String, Type)>,
) {
    match target {
        AssignTargetP::Identifier(name) => locals.push((name.node.ident.clone(), item)),
        AssignTargetP::Tuple(parts) => parts.iter().for_each(|part| bind_target(&part.node, Type::Any, locals)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
