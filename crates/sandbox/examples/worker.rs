//! The sandboxed process of this crate's tests: its work does what work must not.

use std::fs::File;
use std::net::TcpStream;
use std::process;
use std::time::Duration;

use sandbox::{Limits, Work, Worker};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize)]
pub enum Misbehave {
    Loop,
    FillMemory,
    Recurse,
    Panic,
    Abort,
    AnswerTooMuch,
    OpenFile,
    Connect,
    TellVariables,
    Report,
    Behave(u32),
}

impl Work for Misbehave {
    const NAME: &'static str = "misbehave";
    const LIMITS: Limits = Limits { cpu: Duration::from_secs(4), wall: Duration::from_mins(2) };
    type Answer = String;

    fn work(self, report: &dyn Fn(Value)) -> String {
        match self {
            Self::Loop => loop {
                std::hint::spin_loop();
            },
            Self::FillMemory => {
                let mut all = Vec::new();
                loop {
                    all.push(vec![1_u8; 1 << 24]);
                }
            }
            Self::Recurse => return recurse(0).to_string(),
            Self::Panic => panic!("as asked"),
            Self::Abort => process::abort(),
            Self::AnswerTooMuch => return "x".repeat(65 << 20),
            Self::OpenFile => return File::open("/etc/hostname").err().map_or("opened".to_owned(), |e| e.to_string()),
            Self::Connect => {
                return TcpStream::connect("127.0.0.1:1").err().map_or("connected".to_owned(), |e| e.to_string());
            }
            Self::TellVariables => return std::env::vars().map(|(name, _)| format!("{name} ")).collect(),
            Self::Report => report(json!({"done": 1})),
            Self::Behave(n) => return n.to_string(),
        }
        String::new()
    }
}

/// Takes longer than it may.
#[derive(Serialize, Deserialize)]
pub struct Oversleep;

impl Work for Oversleep {
    const NAME: &'static str = "oversleep";
    const LIMITS: Limits = Limits { cpu: Duration::from_secs(4), wall: Duration::from_secs(2) };
    type Answer = ();

    fn work(self, _: &dyn Fn(Value)) {
        std::thread::sleep(Duration::from_hours(1));
    }
}

#[expect(unconditional_recursion, reason = "it is to overflow the stack")]
fn recurse(depth: u64) -> u64 {
    std::hint::black_box([depth; 64]);
    recurse(depth + 1) + std::hint::black_box(1)
}

#[cfg_attr(test, expect(dead_code, reason = "tests include this file for its type"))]
fn main() -> std::io::Result<()> {
    Worker::default().with::<Misbehave>().with::<Oversleep>().serve()
}
