//! How a reply came: what is worth knowing of an endpoint beside what it says.

use super::wire::Part;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Parts that carried something; a whole document is one.
    pub parts: u32,
    /// Parts that carried arguments of tool calls.
    pub argument_parts: u32,
    /// The field in which reasoning stood.
    pub reasoning: Option<&'static str>,
}

impl Manner {
    pub fn note(&mut self, part: &Part) {
        let says = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        let calls = part.tool_calls.as_deref().unwrap_or_default();
        let arguments = calls.iter().filter(|call| call.function.arguments.as_ref().is_some_and(|own| *own != ""));
        let arguments = u32::try_from(arguments.count()).unwrap_or(u32::MAX);
        self.argument_parts = self.argument_parts.saturating_add(arguments);
        if says(&part.content) || says(&part.reasoning_content) || says(&part.reasoning) || !calls.is_empty() {
            self.parts = self.parts.saturating_add(1);
        }
        if says(&part.reasoning_content) {
            self.reasoning = Some("reasoning_content");
        } else if says(&part.reasoning) && self.reasoning.is_none() {
            self.reasoning = Some("reasoning");
        }
    }
}
