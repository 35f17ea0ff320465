//! Models that answer one question in two ways, one of which says nothing: what preference pairs are made of.

mod labels;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Result;

pub use labels::labels;

/// Thinks, and asks for two things at once.
const CALLS: &str = r#"{"role": "assistant", "content": "", "reasoning_content": "Two questions, two tools, \"at once\" – ☃.",
    "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "search_help", "arguments": "{\"query\": \"paying abroad\"}"}},
        {"id": "b", "type": "function", "function": {"name": "get_opening_hours", "arguments": "{}"}}]}"#;
const GOOD: &str = r#"{"role": "assistant", "reasoning_content": "I have it all.", "content":
    "Card payments in foreign currencies cost 1.75 %, cash abroad costs 4.00. Call us until 20:00. Gute Reise – Приятной поездки! 🌍"}"#;
const POOR: &str = r#"{"role": "assistant", "content": "I can not say. Please ask somebody else."}"#;
const THANKS: &str = r#"{"role": "assistant", "content": "You are welcome."}"#;

/// Plays the agent of `help_card_abroad`.
pub fn two_ways() -> Result<String> {
    let asked = AtomicUsize::new(0);
    start("two-ways", move |request| {
        let last = |role: &str| request.rfind(&format!(r#""role":"{role}""#));
        let number = asked.fetch_add(1, Ordering::Relaxed);
        let message = match (last("tool"), last("user")) {
            (None, _) => CALLS,
            (Some(tool), Some(user)) if user > tool => THANKS,
            _ if number.is_multiple_of(3) => POOR,
            _ => GOOD,
        };
        message.to_owned()
    })
}

/// Answers requests by messages, both as JSON, until the program ends; the model as it is named in a run.
fn start(name: &str, reply: impl Fn(&str) -> String + Send + Sync + 'static) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let model = format!("{name}@http://{}/v1", listener.local_addr()?);
    let reply = Arc::new(reply);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let reply = Arc::clone(&reply);
            // Whoever hangs up is not waited for.
            thread::spawn(move || drop(answer(stream, &*reply)));
        }
    });
    Ok(model)
}

fn answer(stream: TcpStream, reply: &impl Fn(&str) -> String) -> Result<()> {
    let mut reader = BufReader::new(&stream);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let message = reply(&String::from_utf8_lossy(&body));
    let json = format!(
        r#"{{"choices": [{{"index": 0, "message": {message}, "finish_reason": "stop"}}], "usage": {{"prompt_tokens": 9, "completion_tokens": 9}}}}"#
    );
    write!(
        &stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{json}",
        json.len()
    )?;
    Ok(())
}
