#![allow(unused_imports, dead_code)]
//! The parts that pages are made of, one module a part.

mod account;
mod badge;
mod checks;
pub mod chart;
#[expect(dead_code, reason = "the pages for documents are not written yet")]
mod code_editor;
mod conversation_list;
mod copy;
mod dialog;
mod fetched;
mod form;
mod json_tree;
mod long_text;
mod models;
mod notice;
mod paged;
mod refreshed;
mod replicas;
mod run_controls;
mod run_header;
mod scores;
mod shell;
mod signed_in;
mod tabs;
mod toast;
mod tool_call;
mod transcript;
mod unified;
mod verified;
mod world_tree;
mod virtual_rows;

pub use account::Account;
pub use badge::Badge;
pub use checks::Checks;
#[expect(unused_imports, reason = "the pages for documents are not written yet")]
pub use code_editor::{CodeEditor, Completion, Completions, EditorControl, Language, Problem, Severity};
pub use conversation_list::ConversationList;
pub use copy::{Command, CopyButton, copy};
pub use dialog::{Dialog, Dialogs};
pub use fetched::{Fetched, show};
pub use form::{Field, Labelled, Problems, Refusal, Refused, Send, enter};
pub use json_tree::{JsonTree, Mark};
pub use long_text::LongText;
pub use models::Models;
pub use notice::{Crumbs, Empty, Failure, Loading, explain};
pub use paged::Paged;
pub use refreshed::{Refreshed, refresh};
pub use replicas::Replicas;
pub use run_controls::RunControls;
pub use run_header::{RunHeader, state_badge};
pub use scores::Scores;
pub use shell::{Outside, Shell};
pub use signed_in::{SignedIn, ToSignIn};
pub use tabs::{Tabs, use_tab};
pub use toast::{ToastList, Toasts};
pub use transcript::Transcript;
pub use unified::Unified;
pub use transcript::{Beside, Place, Transcript, anchor};
pub use verified::Verified;
pub use world_tree::{Opened, WorldTree};
pub use virtual_rows::{PAGE, VirtualRows};
