//! What the functions of a playbook take, for checks that do not call them.

use starlark::docs::{DocFunction, DocItem, DocMember, DocParam};

use super::Code;

/// A function's parameters in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Those that can be given by place.
    pub placed: Vec<Parameter>,
    /// Those that can be given by name only.
    pub named: Vec<Parameter>,
    /// `*args`
    pub any_placed: bool,
    /// `**kwargs`
    pub any_named: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// It has no default.
    pub required: bool,
}

impl Code {
    /// The functions of the module by name, without its helpers (a leading underscore).
    pub fn functions(&self) -> Vec<(String, Signature)> {
        let documented = self.module.documentation().members;
        let functions = documented.into_iter().filter_map(|(name, item)| match item {
            DocItem::Member(DocMember::Function(function)) if !name.starts_with('_') => {
                Some((name, Signature::of(function)))
            }
            _ => None,
        });
        functions.collect()
    }

    /// What a function takes, a helper or not. `None` if there is no function of this name.
    pub fn signature(&self, name: &str) -> Option<Signature> {
        let (value, _) = self.module.get_any_visibility(name).ok()?;
        match value.value().documentation() {
            DocItem::Member(DocMember::Function(function)) => Some(Signature::of(function)),
            _ => None,
        }
    }
}

impl Signature {
    fn of(function: DocFunction) -> Self {
        let params = function.params;
        Self {
            placed: params.pos_only.into_iter().chain(params.pos_or_named).map(Parameter::of).collect(),
            named: params.named_only.into_iter().map(Parameter::of).collect(),
            any_placed: params.args.is_some(),
            any_named: params.kwargs.is_some(),
        }
    }
}

impl Parameter {
    fn of(param: DocParam) -> Self {
        Self { name: param.name, required: param.default_value.is_none() }
    }
}
