//! What a call asks.

use domain::chat::ChatRequest;
use domain::encoder::EncoderRequest;
use domain::role::RoleId;

use crate::Listener;

#[derive(Clone, Copy)]
pub enum Question<'a> {
    Chat(&'a ChatRequest, Listener<'a>),
    Encoder(&'a EncoderRequest),
}

impl Question<'_> {
    pub const fn role(&self) -> RoleId {
        match self {
            Self::Chat(ask, _) => ask.role,
            Self::Encoder(ask) => ask.role,
        }
    }

    pub const fn seed(&self) -> i64 {
        match self {
            Self::Chat(ask, _) => ask.seed,
            Self::Encoder(ask) => ask.seed,
        }
    }
}
