//! A model behind one OpenAI-compatible endpoint.

use engine::{Ask, ChatReply, Conversation};
use futures::future::BoxFuture;

use crate::error::{ModelError, SetupError};
use crate::{Answer, ChatModel, EndpointOptions, EndpointSpec, Pool};

/// Asks one endpoint for replies: a pool of one. Cheap to use from many tasks at once: connections are shared.
#[derive(Debug)]
pub struct Endpoint {
    spec: EndpointSpec,
    pool: Pool,
}

impl Endpoint {
    /// Reads the key from the environment and makes the client; asks nothing yet.
    pub fn new(spec: EndpointSpec, options: EndpointOptions) -> Result<Self, SetupError> {
        let pool = Pool::of_endpoint(spec.clone(), options)?;
        Ok(Self { spec, pool })
    }

    pub const fn spec(&self) -> &EndpointSpec {
        &self.spec
    }

    /// The reply to an ask.
    pub async fn ask(&self, ask: &Ask) -> Result<ChatReply, ModelError> {
        Ok(self.answer(ask).await?.reply)
    }

    /// The reply, with what it took.
    pub async fn answer(&self, ask: &Ask) -> Result<Answer, ModelError> {
        // With one replica every ask goes the same way.
        self.pool.answer(ask, 0).await
    }
}

impl ChatModel for Endpoint {
    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        conversation: &'a Conversation,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        self.pool.complete(ask, conversation)
    }
}
