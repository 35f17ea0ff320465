//! Authoring with models: what `groundstate author` does, without its flags and its words.
//!
//! A model drafts, the programs that check every document check the draft, and what they find goes back to the model.
//! Only what they accept is kept. The asking is here; prompts and the reading of replies are `engine::author`'s.

pub mod scenarios;
pub mod sub_agent;
