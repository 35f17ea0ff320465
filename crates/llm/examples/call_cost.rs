//! What a call costs this process: `cargo run --release -p llm --example call_cost -- [CALLS] [MESSAGES] [CHUNKS]`.
//!
//! A server on a thread of its own answers at once; the time that the asking thread spends on a processor is divided by
//! the calls. Linux only: the time is the kernel's.

use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use domain::chat::ChatRequest;
use domain::message::Message;
use domain::role::Role;
use futures::StreamExt;
use llm::{EndpointOptions, Pool, PoolSpec};

const AT_ONCE: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let mut number = |default| numbers.next().unwrap_or(Ok(default));
    let (calls, messages, chunks) = (number(20_000)?, number(20)?, number(8)?);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    let answer = answer(chunks);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || serve(stream, &answer));
        }
    });

    let pool = Pool::new(&PoolSpec::new("m", vec![url]), EndpointOptions::default())?;
    let ask = ask(messages);
    let asking = async |calls: usize| {
        let answers = futures::stream::iter(0..calls as u64).map(|call| pool.answer(&ask, call));
        answers.buffer_unordered(AT_ONCE).filter(|answer| std::future::ready(answer.is_ok())).count().await
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(asking(AT_ONCE * 10));
    let before = nanoseconds()?;
    let answered = runtime.block_on(asking(calls));
    let each = (nanoseconds()? - before) / 1000 / answered.max(1) as u64;
    println!("{answered} of {calls} calls answered, {each} us each ({messages} messages, {chunks} chunks)");
    Ok(())
}

/// A conversation of so many messages.
fn ask(messages: usize) -> ChatRequest {
    let message = |_| Message::User { content: "I would like to know where my order is. ".repeat(8) };
    ChatRequest {
        role: Role::Agent.into(),
        messages: (0..messages).map(message).collect(),
        tools: Vec::new(),
        schema: None,
        temperature: 0.7,
        max_tokens: 1000,
        seed: 1,
    }
}

/// A reply in so many chunks, as vLLM writes them.
fn answer(chunks: usize) -> String {
    let head = r#""id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1760000000,"model":"m""#;
    let chunk = format!(
        "data: {{{head},\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" token\"}},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n"
    );
    let end = format!("data: {{{head},\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n");
    let body = chunk.repeat(chunks) + &end + "data: [DONE]\n\n";
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Answers every request of a connection: each ends with the first part that ends in a brace.
fn serve(mut stream: TcpStream, answer: &str) {
    let mut part = vec![0; 1 << 16];
    while let Ok(length @ 1..) = stream.read(&mut part) {
        if part[..length].ends_with(b"}") && stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// The time that this thread has spent on a processor.
fn nanoseconds() -> Result<u64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or_default().parse()?)
}
