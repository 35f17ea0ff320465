//! The words in which documents are named.

use domain::api::documents::Counts;
use domain::finding::Grade;
use domain::project::Kind;

use ui::labels::Tone;

/// As a heading of a list.
pub const fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Playbook => "Playbooks",
        Kind::Scenario => "Scenarios",
        Kind::Persona => "Personas",
        Kind::Judge => "Judges",
        Kind::Workflow => "Workflows",
    }
}

/// What a document of a kind is, for people who see their first one.
pub const fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Playbook => {
            "A playbook describes one business: the prompt of its agent, its tools, and the rules of its backend."
        }
        Kind::Scenario => {
            "A scenario is one situation: what the user wants, which records exist, and what must be true at the end."
        }
        Kind::Persona => "A persona profile is one kind of person. Each simulated user is drawn from one.",
        Kind::Workflow => {
            "A workflow turns an input row into an output row: it asks models, computes and searches, for lists and in loops."
        }
        Kind::Judge => "A judge says by which criteria conversations are scored, and what each score means.",
    }
}

pub const fn tone(grade: Grade) -> Tone {
    match grade {
        Grade::Critical | Grade::Error => Tone::Bad,
        Grade::Warning => Tone::Notable,
        Grade::Info => Tone::Neutral,
    }
}

/// What was found, worst first: "2 errors", "1 warning".
pub fn counted(counts: Counts) -> Vec<(Tone, String)> {
    let all = [
        (Grade::Critical, counts.critical, "critical", "critical"),
        (Grade::Error, counts.errors, "error", "errors"),
        (Grade::Warning, counts.warnings, "warning", "warnings"),
        (Grade::Info, counts.infos, "note", "notes"),
    ];
    let some = all.into_iter().filter(|(_, n, ..)| *n > 0);
    some.map(|(grade, n, one, many)| (tone(grade), format!("{n} {}", if n == 1 { one } else { many }))).collect()
}

/// Which version is promoted: the newest, an older one, or none yet.
pub fn used(version: i32, promoted: Option<i32>) -> (Tone, String) {
    match promoted {
        Some(promoted) if promoted == version => (Tone::Good, format!("v{version} is promoted")),
        Some(promoted) => (Tone::Notable, format!("draft v{version}, v{promoted} is promoted")),
        None => (Tone::Notable, format!("draft v{version}")),
    }
}

/// An option of a categorical attribute: `web_chat` is "web chat", `25_39` is "25–39".
pub fn option(name: &str) -> String {
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.replace("_plus", "+").replace('_', "–")
    } else {
        ui::labels::words(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_worst_first() {
        let counts = Counts { critical: 0, errors: 2, warnings: 1, infos: 0 };
        let told: Vec<String> = counted(counts).into_iter().map(|(_, text)| text).collect();
        assert_eq!(told, ["2 errors", "1 warning"]);
        assert!(counted(Counts::default()).is_empty());
    }

    #[test]
    fn ages_read_as_ages() {
        assert_eq!(["web_chat", "25_39", "75_plus"].map(option), ["web chat", "25–39", "75+"]);
    }

    #[test]
    fn a_draft_says_what_is_promoted_instead() {
        assert_eq!(used(3, Some(3)).1, "v3 is promoted");
        assert_eq!(used(3, Some(1)).1, "draft v3, v1 is promoted");
        assert_eq!(used(1, None).1, "draft v1");
    }
}
