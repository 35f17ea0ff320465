//! Workers, and the tokens by which they join.

use domain::api::workers::{
    JoinTokenSummary, NewJoinToken, NewJoinTokenAnswer, WorkerOrder, WorkerOrders, WorkerSummary,
};

use super::{Answer, delete, get, post};
use crate::address::segment;

pub async fn list() -> Answer<Vec<WorkerSummary>> {
    get("/workers").await
}

pub async fn order(id: i64, order: WorkerOrder) -> Answer<WorkerOrders> {
    post(&format!("/workers/{id}/order"), &WorkerOrders { order }).await
}

pub async fn tokens() -> Answer<Vec<JoinTokenSummary>> {
    get("/join-tokens").await
}

pub async fn make_token(token: &NewJoinToken) -> Answer<NewJoinTokenAnswer> {
    post("/join-tokens", token).await
}

pub async fn withdraw_token(id: &str) -> Answer<()> {
    delete(&format!("/join-tokens/{}", segment(id))).await
}
