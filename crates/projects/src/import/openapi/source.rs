//! From a file to an OpenAPI document of a version that is read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::bail;
use domain::document::{self, LocatedValue};
use serde_json::Value;

use domain::bad_input::BadInput;
use domain::text;

/// Longest document, in bytes: reading takes a hundred times the memory. The largest in use have 12 MB.
const MAX_BYTES: usize = 16 << 20;

pub fn read(file: &Path) -> anyhow::Result<LocatedValue> {
    let name = file.display().to_string();
    let content = content(file).map_err(|why| BadInput::one(&name, why))?;
    parse(&name, &content)
}

/// A document that was read already; `name` stands in what is wrong with it.
pub fn parse(name: &str, content: &str) -> anyhow::Result<LocatedValue> {
    let json = content.trim_start().starts_with('{').then(|| without_surrogates(content));
    let located = document::value(name, json.as_deref().unwrap_or(content)).map_err(BadInput)?;
    if let Err((at, message)) = version(&located.value) {
        bail!(BadInput(vec![located.problem(at, message)]));
    }
    Ok(located)
}

/// Never more than can be read: the file may be a device that has no end.
fn content(file: &Path) -> Result<String, String> {
    let cannot = |fault: std::io::Error| format!("cannot be read: {fault}");
    if file.is_dir() {
        return Err("is a folder; expected an OpenAPI document".to_owned());
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    File::open(file).map_err(cannot)?.take(limit).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() > MAX_BYTES {
        return Err(format!("is longer than {MAX_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text; expected YAML or JSON")?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// JSON may write a letter beyond U+FFFF as two escapes, which is the only thing in JSON that YAML does not read.
fn without_surrogates(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if let Some(letter) = surrogates(rest) {
            out.push(letter);
            12
        } else {
            // The backslash and what it escapes, which may be another one.
            let length = rest.chars().take(2).map(char::len_utf8).sum();
            out.push_str(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    out + rest
}

/// The letter that two escapes at the start stand for.
fn surrogates(text: &str) -> Option<char> {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?, 16).ok();
    let pair = [unit(text.get(..6)?)?, unit(text.get(6..12)?)?];
    char::decode_utf16(pair).next()?.ok().filter(|letter| *letter > '\u{ffff}')
}

/// Whether it is an OpenAPI document that is read; else why not, with the place.
fn version(document: &Value) -> Result<(), (&'static str, String)> {
    let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), text::line);
    if !document.is_object() {
        return Err((
            "",
            "is not an OpenAPI document: expected an object with `openapi`, `info` and `paths`".to_owned(),
        ));
    }
    match (document.get("openapi"), document.get("swagger")) {
        (Some(version), _) if said(version).starts_with("3.") => Ok(()),
        (Some(version), _) => {
            Err(("/openapi", format!("is version `{}`; versions 3.0 and 3.1 are read", said(version))))
        }
        (None, Some(version)) => {
            let convert = "convert it first, such as with `npx swagger2openapi FILE --outfile openapi.yaml`";
            Err(("/swagger", format!("is Swagger {}, and OpenAPI 3.0 and 3.1 are read: {convert}", said(version))))
        }
        (None, None) => Err(("", "is not an OpenAPI document: it has no field `openapi`".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::without_surrogates;

    #[test]
    fn letters_beyond_the_first_plane() {
        for (json, expected) in [
            (r#"{"a": "\ud83d\ude00 \\ud83d\ude00 \n \u00e4"}"#, r#"{"a": "😀 \\ud83d\ude00 \n \u00e4"}"#),
            (r#""\ud83d" "\ude00\ud83d""#, r#""\ud83d" "\ude00\ud83d""#),
            ("\\", "\\"),
            ("\\ä\\u12", "\\ä\\u12"),
        ] {
            assert_eq!(without_surrogates(json), expected);
        }
    }
}
