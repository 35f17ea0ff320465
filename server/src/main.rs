use std::process::ExitCode;

// A conversation is many small allocations: the system's allocator was a third of its CPU.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// After how many tasks a worker thread looks at sockets and timers. By default it does after 61; but a conversation that
/// is played without a wait is a task of half a millisecond, and what waits in a socket may be the transaction that
/// hundreds of them wait for.
const TASKS_BETWEEN_LOOKS: u32 = 4;

fn main() -> anyhow::Result<ExitCode> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().event_interval(TASKS_BETWEEN_LOOKS).build()?.block_on(server::cli::run())
}
