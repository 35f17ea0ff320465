//! What functions and methods of Starlark give, where that is known.

use crate::types::Type;

/// # Errors
/// The argument cannot be used so.
pub fn builtin(name: &str, first: Option<&Type>) -> Result<Type, String> {
    let unusable = |what: &str| Err(format!("`{name}` takes {what}, and gets a {}", first.unwrap_or(&Type::Null)));
    let counted = matches!(first, Some(Type::Number | Type::Boolean | Type::Null));
    Ok(match name {
        "len" if counted => return unusable("a list, an object or a text"),
        "len" | "int" | "float" | "abs" | "round" | "sum" | "ord" | "hash" => Type::Number,
        "str" | "repr" | "chr" | "type" => Type::Text,
        "bool" | "any" | "all" | "hasattr" => Type::Boolean,
        "sorted" | "reversed" | "list" => match first {
            Some(Type::Number | Type::Boolean | Type::Null) => return unusable("a list"),
            Some(of) => Type::list(of.item().unwrap_or(Type::Any)),
            None => Type::list(Type::Any),
        },
        "min" | "max" => first.and_then(Type::item).unwrap_or(Type::Any),
        "range" => Type::list(Type::Number),
        "enumerate" | "zip" | "map" | "filter" => Type::list(Type::Any),
        _ => Type::Any,
    })
}

/// # Errors
/// The value has no such method.
pub fn method(of: &Type, name: &str) -> Result<Type, String> {
    match of {
        Type::Text => text(name).ok_or_else(|| format!("a text has no method `{name}`")),
        Type::Record(_) => Ok(match name {
            "keys" => Type::list(Type::Text),
            "values" | "items" => Type::list(Type::Any),
            _ => Type::Any,
        }),
        Type::List(_) | Type::Stream(_) => match name {
            "index" => Ok(Type::Number),
            "append" | "clear" | "extend" | "insert" | "pop" | "remove" => {
                Err(format!("a value cannot be changed by `{name}`; make a new one, such as `items + [item]`"))
            }
            _ => Err(format!("a {of} has no method `{name}`")),
        },
        Type::Number | Type::Integer | Type::Boolean | Type::Null => Err(format!("a {of} has no method `{name}`")),
        Type::Any | Type::Optional(_) => Ok(Type::Any),
    }
}

/// How many of the first arguments of a text's method have to be texts, or a list of texts.
pub fn takes(method: &str) -> usize {
    match method {
        "replace" => 2,
        "count" | "endswith" | "find" | "index" | "join" | "partition" | "removeprefix" | "removesuffix" | "rfind"
        | "rindex" | "rpartition" | "startswith" => 1,
        _ => 0,
    }
}

/// # Errors
/// The method of a text cannot take such an argument.
pub fn argument(method: &str, given: &Type) -> Result<(), String> {
    let (fits, what) = if method == "join" {
        // The keys of an object are texts.
        let fits = match given {
            Type::List(item) | Type::Stream(item) => matches!(**item, Type::Text | Type::Any),
            other => matches!(other, Type::Record(_) | Type::Any),
        };
        (fits, "a list of texts")
    } else {
        (matches!(given, Type::Text | Type::Any), "a text")
    };
    if fits { Ok(()) } else { Err(format!("`{method}` takes {what}, and gets a {given}")) }
}

fn text(name: &str) -> Option<Type> {
    Some(match name {
        "capitalize" | "format" | "join" | "lower" | "lstrip" | "removeprefix" | "removesuffix" | "replace"
        | "rstrip" | "strip" | "title" | "upper" => Type::Text,
        "elems" | "codepoints" | "rsplit" | "split" | "splitlines" => Type::list(Type::Text),
        "partition" | "rpartition" => Type::Any,
        "endswith" | "isalnum" | "isalpha" | "isdigit" | "islower" | "isspace" | "istitle" | "isupper"
        | "startswith" => Type::Boolean,
        "count" | "find" | "index" | "rfind" | "rindex" => Type::Number,
        _ => return None,
    })
}
