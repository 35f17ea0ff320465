//! Classifiers: replies that are one of a few texts.

use domain::chat::ChatReply;
use domain::task::{Next, Resolution, Task};
use serde_json::json;

use crate::support::{compiled, problems};
use crate::{ECHO, answers, begin, play};

const CLASSIFIED: &str = "
workflow: test
input: {text: text}
steps:
  label: {ask: {role: classifier, prompt: '{{ text }}', choices: [spam, fine], max_tokens: 1, repairs: 0}}
  spam: {end: {when: label == 'spam', as: spam}}
output: {label: label}
stand_ins: {classifier: echo}
";

#[test]
fn a_reply_is_one_of_the_choices() {
    for (said, became) in [
        ("Fine.", r#"finished: {"label":"fine"}"#),
        ("**SPAM**, I think", "spam: "),
        ("finest", "invalid_reply: label: the reply cannot be used: it is none of these: spam, fine"),
    ] {
        let played = play(CLASSIFIED, ECHO, &json!({"text": said}));
        assert_eq!(played.rsplit_once(" after ").unwrap().0, became, "{said}");
    }
}

#[test]
fn a_reply_of_one_token_is_enough() {
    for (token, ends) in [("spam", "spam"), (" Fi", "finished"), ("I", "invalid_reply"), ("", "invalid_reply")] {
        let mut row = begin(CLASSIFIED, ECHO, &json!({"text": "a"}));
        row.act();
        let (request, _) = answers(&row).into_iter().next().unwrap();
        let reply = ChatReply { content: token.to_owned(), ..ChatReply::default() };
        row.resolve(&request, Resolution::Unusable { reply, reason: "it is cut off".to_owned() });
        while let Next::Act = row.next() {
            row.act();
        }
        assert_eq!(row.ending().unwrap().name, ends, "{token:?}");
    }
}

#[test]
fn choices_are_refused_that_no_reply_tells_apart() {
    let with = |choices: &str| problems(&CLASSIFIED.replace("choices: [spam, fine]", choices), ECHO);
    assert!(with("choices: [spam]").contains("has 1 text; expected 2 to 100"));
    assert!(with("choices: [spam, Spam]").contains("has `spam` and `Spam`, which replies do not tell apart"));
    assert!(with("choices: [a, b], split: lines").contains("belongs to a reply without `returns` and `split`"));
    // The type is that of a text.
    let yaml = CLASSIFIED.replace("label == 'spam'", "label.factual");
    assert!(problems(&yaml, ECHO).contains("`factual`"), "{}", problems(&yaml, ECHO));
    compiled(CLASSIFIED, ECHO);
}
