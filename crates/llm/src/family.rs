//! Which family a model belongs to. A judge favours the words of its own family (Panickssery et al. 2024, "LLM
//! evaluators recognize and favor their own generations"; Zheng et al. 2023, "Judging LLM-as-a-judge"), so that one
//! deserves a warning.

use crate::ModelSpec;

/// Beginnings of names that do not name their family.
const FAMILIES: [(&str, &str); 20] = [
    ("chatgpt", "gpt"),
    ("o1", "gpt"),
    ("o3", "gpt"),
    ("o4", "gpt"),
    ("davinci", "gpt"),
    ("gemma", "gemini"),
    ("codegemma", "gemini"),
    ("mixtral", "mistral"),
    ("ministral", "mistral"),
    ("magistral", "mistral"),
    ("codestral", "mistral"),
    ("devstral", "mistral"),
    ("pixtral", "mistral"),
    ("qwq", "qwen"),
    ("qvq", "qwen"),
    ("codellama", "llama"),
    ("sonnet", "claude"),
    ("opus", "claude"),
    ("haiku", "claude"),
    ("chatglm", "glm"),
];

/// A model's family by its name; `None` for `scripted`, which is no model. A model of models.yaml is judged by the name
/// that it has there: [`family_of`] takes the one that its endpoints know.
pub fn family(model: &ModelSpec) -> Option<String> {
    match model {
        ModelSpec::Scripted | ModelSpec::Outside => None,
        ModelSpec::Named(name) => Some(family_of(name)),
        ModelSpec::Endpoint(endpoint) => Some(family_of(endpoint.name())),
    }
}

/// The family of the model that endpoints know by this name.
pub fn family_of(name: &str) -> String {
    let name = name.to_lowercase();
    // `meta-llama/Llama-3.1-8B-Instruct`: the part before the slash is who publishes it.
    let name = name.rsplit('/').next().unwrap_or(&name);
    if let Some((_, family)) = FAMILIES.iter().find(|(start, _)| name.starts_with(start)) {
        return (*family).to_owned();
    }
    let letters = name.chars().take_while(|c| c.is_alphabetic()).collect::<String>();
    if letters.is_empty() { name.to_owned() } else { letters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_family() {
        for (name, expected) in [
            ("meta-llama/Llama-3.1-8B-Instruct", "llama"),
            ("codellama-7b", "llama"),
            ("Qwen/Qwen3-30B-A3B", "qwen"),
            ("qwq-32b", "qwen"),
            ("gpt-5-mini", "gpt"),
            ("o4-mini", "gpt"),
            ("mixtral-8x7b", "mistral"),
            ("7b", "7b"),
        ] {
            for text in [format!("{name}@http://localhost:1/v1"), name.to_owned()] {
                let spec = text.parse().expect("a model");
                assert_eq!(family(&spec).as_deref(), Some(expected), "{text}");
            }
        }
        assert_eq!(family(&ModelSpec::Scripted), None);
    }
}
