use super::*;

fn said(exit: Exit, log: &str) -> String {
    diagnose(exit, &log.lines().map(str::to_owned).collect::<Vec<_>>())
}

/// Each as its engine writes it, with what it writes afterwards.
#[test]
fn memory() {
    let vllm = "(EngineCore_0 pid=311) ERROR 11-20 10:11:12 [core.py:708] EngineCore failed to start.\n\
        torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB. GPU 0 has a total capacity of 79.11 GiB of which 871.00 MiB is free.\n\
        RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}";
    insta::assert_snapshot!(said(Exit::Code(1), vllm), @"");
    let cache = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.";
    insta::assert_snapshot!(said(Exit::Code(1), cache), @"");
    let llama = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 0: cudaMalloc failed: out of memory\n\
        llama_model_load: error loading model: unable to allocate CUDA0 buffer\nmain: exiting due to model loading error";
    insta::assert_snapshot!(said(Exit::Code(1), llama), @"");
}

#[test]
fn no_gpu() {
    let sglang = "  File \"torch/cuda/__init__.py\", line 372, in _lazy_init\n    torch._C._cuda_init()\n\
        RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver";
    insta::assert_snapshot!(said(Exit::Code(1), sglang), @"");
    insta::assert_snapshot!(said(Exit::Code(1), "RuntimeError: Failed to infer device type, please set the environment variable `VLLM_LOGGING_LEVEL=DEBUG`"), @"");
}

#[test]
fn the_port() {
    let vllm = "OSError: [Errno 98] Address already in use";
    insta::assert_snapshot!(said(Exit::Code(1), vllm), @"");
    let llama = "start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080";
    insta::assert_snapshot!(said(Exit::Code(1), llama), @"");
}

#[test]
fn weights() {
    let missing = "huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error. (Request ID: Root=1-67)\n\
        Repository Not Found for url: https://huggingface.co/api/models/Qwen/Qwen9.\nInvalid username or password.";
    insta::assert_snapshot!(said(Exit::Code(1), missing), @"");
    let gated = "OSError: You are trying to access a gated repo.\nMake sure to have access to it at https://huggingface.co/meta-llama/Llama-3.1-8B.\n401 Client Error.";
    insta::assert_snapshot!(said(Exit::Code(1), gated), @"");
    let llama = "gguf_init_from_file: failed to open GGUF file 'no.gguf' (No such file or directory)\nmain: exiting due to model loading error";
    insta::assert_snapshot!(said(Exit::Code(1), llama), @"");
}

#[test]
fn the_command_line() {
    insta::assert_snapshot!(said(Exit::Code(2), "usage: vllm [-h]\nvllm: error: unrecognized arguments: --contxt 7"), @"");
    insta::assert_snapshot!(said(Exit::Code(1), "error: invalid argument: --contxt"), @"");
    insta::assert_snapshot!(said(Exit::Code(127), "`vllm` cannot be started: No such file or directory (os error 2)"), @"");
}

#[test]
fn what_nobody_knows() {
    insta::assert_snapshot!(said(Exit::Signal(9), "loading shard 3 of 4\r\n\u{1b}[31m"), @"");
    insta::assert_snapshot!(said(Exit::Signal(11), "loading"), @"");
    insta::assert_snapshot!(said(Exit::Code(0), ""), @"");
}
