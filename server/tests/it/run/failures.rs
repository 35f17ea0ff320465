//! Models that fail: who is blamed, and what is left of the conversation. The run goes on in each case.

mod agent;
mod infrastructure;
mod judge;
mod tool_simulator;
mod user;
