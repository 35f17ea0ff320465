//! What a call asks.

use domain::chat::ChatRequest;
use domain::encoder::EncoderRequest;
use domain::role::RoleId;

use crate::Listener;

#[derive(Clone, Copy)]
pub enum Question<'a> {
    Chat {
        ask: &'a ChatRequest,
        /// Whether the tokens of the reply are asked for.
        tokens: bool,
        listener: Listener<'a>,
    },
    Encoder(&'a EncoderRequest),
}

impl Question<'_> {
    pub const fn role(&self) -> RoleId {
        match self {
            Self::Chat { ask, .. } => ask.role,
            Self::Encoder(ask) => ask.role,
        }
    }

    pub const fn seed(&self) -> i64 {
        match self {
            Self::Chat { ask, .. } => ask.seed,
            Self::Encoder(ask) => ask.seed,
        }
    }
}
