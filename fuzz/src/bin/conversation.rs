//! Everything that models reply in a conversation: user, agent, tools, judge.
#![no_main]

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use domain::chat::ChatReply;
use domain::message::ToolCall;
use domain::task::{Resolution, Task, advance};
use engine::case::Case;
use engine::conversation::Conversation;
use libfuzzer_sys::fuzz_target;
use projects::library::Library;

/// Requests that are answered by what the fuzzer made up; the stand-ins answer the rest.
const MOST_REPLIES: usize = 24;

static CASE: LazyLock<Arc<Case>> = LazyLock::new(|| {
    let library = Library::assemble(fuzz::project()).expect("the shipped documents are sound");
    let scenario = library.scenario(fuzz::SCENARIO).expect("it ships");
    let playbook = library.playbook(fuzz::PLAYBOOK).expect("it ships");
    let judge = library.judge_of(playbook).expect("it ships");
    let initial = library.initial(scenario, playbook);
    Arc::new(Case::of(Arc::clone(playbook), Arc::clone(judge), Arc::clone(scenario), initial))
});

/// Replies are separated by a line with a dash. In each, lines `call NAME ARGUMENTS` are calls, and the others are text.
/// An empty reply stands for what the scenario's script says.
fn reply(text: &str) -> Option<ChatReply> {
    if text.is_empty() {
        return None;
    }
    let (mut content, mut tool_calls) = (String::new(), Vec::new());
    for line in text.lines() {
        match line.strip_prefix("call ").and_then(|call| call.split_once(' ')) {
            Some((name, arguments)) => {
                let id = format!("call_{}", tool_calls.len());
                tool_calls.push(ToolCall::new(id, name.to_owned(), arguments.to_owned()));
            }
            None => content.extend([line, "\n"]),
        }
    }
    Some(ChatReply { content, tool_calls, ..ChatReply::default() }.storable())
}

fuzz_target!(|input: &[u8]| {
    let Ok(text) = str::from_utf8(input) else { return };
    let mut replies = text.split("\n-\n").take(MOST_REPLIES).map(reply);
    fuzz::on_stack(move || {
        let mut conversation = Conversation::new(Arc::clone(&CASE));
        advance(
            &mut conversation,
            |conversation, request| {
                let made_up = conversation.prompt(request).and_then(|_| replies.next().flatten());
                Some(made_up.map_or_else(|| conversation.stand_in(request), Resolution::Reply))
            },
            |_, _| ControlFlow::Continue(()),
        );
        assert!(conversation.outcome().is_some(), "a conversation that was played to its end has an outcome");
    });
});
