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
    insta::assert_snapshot!(said(Exit::Code(1), vllm), @"out of GPU memory (exit code 1): give it less context (--context-length), another share of the memory (--gpu-memory), more GPUs (--tensor-parallel) or smaller weights, and look with nvidia-smi who else has memory there. It said: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB. GPU 0 has a total capacity of 79.11 GiB of which 871.00 MiB is free.");
    let cache = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.";
    insta::assert_snapshot!(said(Exit::Code(1), cache), @"out of GPU memory (exit code 1): give it less context (--context-length), another share of the memory (--gpu-memory), more GPUs (--tensor-parallel) or smaller weights, and look with nvidia-smi who else has memory there. It said: ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.");
    let llama = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 0: cudaMalloc failed: out of memory\n\
        llama_model_load: error loading model: unable to allocate CUDA0 buffer\nmain: exiting due to model loading error";
    insta::assert_snapshot!(said(Exit::Code(1), llama), @"out of GPU memory (exit code 1): give it less context (--context-length), another share of the memory (--gpu-memory), more GPUs (--tensor-parallel) or smaller weights, and look with nvidia-smi who else has memory there. It said: ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 0: cudaMalloc failed: out of memory");
}

#[test]
fn no_gpu() {
    let sglang = "  File \"torch/cuda/__init__.py\", line 372, in _lazy_init\n    torch._C._cuda_init()\n\
        RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver";
    insta::assert_snapshot!(said(Exit::Code(1), sglang), @"no GPU that it can use (exit code 1): see whether nvidia-smi shows one, whether a container was given it (--gpus all), and whether --gpus names one that is there. It said: RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver");
    insta::assert_snapshot!(said(Exit::Code(1), "RuntimeError: Failed to infer device type, please set the environment variable `VLLM_LOGGING_LEVEL=DEBUG`"), @"no GPU that it can use (exit code 1): see whether nvidia-smi shows one, whether a container was given it (--gpus all), and whether --gpus names one that is there. It said: RuntimeError: Failed to infer device type, please set the environment variable `VLLM_LOGGING_LEVEL=DEBUG`");
}

#[test]
fn the_port() {
    let vllm = "OSError: [Errno 98] Address already in use";
    insta::assert_snapshot!(said(Exit::Code(1), vllm), @"the port is in use (exit code 1): choose another with --port, or leave it out to take a free one. It said: OSError: [Errno 98] Address already in use");
    let llama = "start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080";
    insta::assert_snapshot!(said(Exit::Code(1), llama), @"the port is in use (exit code 1): choose another with --port, or leave it out to take a free one. It said: start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080");
}

#[test]
fn weights() {
    let missing = "huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error. (Request ID: Root=1-67)\n\
        Repository Not Found for url: https://huggingface.co/api/models/Qwen/Qwen9.\nInvalid username or password.";
    insta::assert_snapshot!(said(Exit::Code(1), missing), @"the weights are not found (exit code 1): see whether --weights names a folder, a file or a repository that exists; a private one needs HF_TOKEN. It said: huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error. (Request ID: Root=1-67)");
    let gated = "OSError: You are trying to access a gated repo.\nMake sure to have access to it at https://huggingface.co/meta-llama/Llama-3.1-8B.\n401 Client Error.";
    insta::assert_snapshot!(said(Exit::Code(1), gated), @"access to the weights is restricted (exit code 1): accept their licence at Hugging Face and set HF_TOKEN, or name a folder that has them with --weights. It said: OSError: You are trying to access a gated repo.");
    let llama = "gguf_init_from_file: failed to open GGUF file 'no.gguf' (No such file or directory)\nmain: exiting due to model loading error";
    insta::assert_snapshot!(said(Exit::Code(1), llama), @"the weights are not found (exit code 1): see whether --weights names a folder, a file or a repository that exists; a private one needs HF_TOKEN. It said: gguf_init_from_file: failed to open GGUF file 'no.gguf' (No such file or directory)");
}

#[test]
fn the_command_line() {
    insta::assert_snapshot!(said(Exit::Code(2), "usage: vllm [-h]\nvllm: error: unrecognized arguments: --contxt 7"), @"it does not understand its command line (exit code 2): compare the flags after `--` with what this version of the engine takes (--dry-run prints the whole line). It said: vllm: error: unrecognized arguments: --contxt 7");
    insta::assert_snapshot!(said(Exit::Code(1), "error: invalid argument: --contxt"), @"it does not understand its command line (exit code 1): compare the flags after `--` with what this version of the engine takes (--dry-run prints the whole line). It said: error: invalid argument: --contxt");
    insta::assert_snapshot!(said(Exit::Code(127), "`vllm` cannot be started: No such file or directory (os error 2)"), @"the engine is not installed (exit code 127): install it, or name its executable with --program. It said: `vllm` cannot be started: No such file or directory (os error 2)");
}

#[test]
fn what_nobody_knows() {
    insta::assert_snapshot!(said(Exit::Signal(9), "loading shard 3 of 4\r\n\u{1b}[31m"), @"killed (killed by signal 9), most likely because the machine has no memory left: see `dmesg`, and give it less. Its last words: [31m");
    insta::assert_snapshot!(said(Exit::Signal(11), "loading"), @"it ended (killed by signal 11). Its last words: loading");
    insta::assert_snapshot!(said(Exit::Code(0), ""), @"it ended by itself, without an error. It said nothing.");
}
