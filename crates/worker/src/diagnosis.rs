//! Why an engine ended, said so that somebody can mend it. Engines say it themselves, deep in hundreds of lines.

use std::fmt;

/// How an engine ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
        }
    }
}

/// Longest line of an engine that is repeated, in letters.
const LONGEST: usize = 300;

/// What the line that gives a fault away holds (in small letters, any of them), what is wrong, and what to do.
type Sign = (&'static [&'static str], &'static str, &'static str);

/// In this order: an engine that has no memory fails at much else afterwards.
const SIGNS: &[Sign] = &[
    (
        &[
            "cuda out of memory",
            "outofmemoryerror",
            "hip out of memory",
            "cudamalloc failed: out of memory",
            "not enough memory. please try to increase --mem-fraction-static",
            "no available memory for the cache blocks",
            "is less than desired gpu memory utilization",
            "failed to allocate cuda",
            "larger than the maximum number of tokens that can be stored in kv cache",
            "cuda error: out of memory",
        ],
        "out of GPU memory",
        "give it less context (--context-length), another share of the memory (--gpu-memory), more GPUs \
         (--tensor-parallel) or smaller weights, and look with nvidia-smi who else has memory there",
    ),
    (
        &[
            "no cuda gpus are available",
            "no cuda-capable device",
            "found no nvidia driver",
            "cuda driver version is insufficient",
            "failed to infer device type",
            "nvmlerror_librarynotfound",
            "nvml shared library not found",
            "libcuda.so",
            "torch not compiled with cuda enabled",
            "invalid device ordinal",
        ],
        "no GPU that it can use",
        "see whether nvidia-smi shows one, whether a container was given it (--gpus all), and whether --gpus names one \
         that is there",
    ),
    (
        &["address already in use", "errno 98", "couldn't bind http server socket", "bind() failed"],
        "the port is in use",
        "choose another with --port, or leave it out to take a free one",
    ),
    (
        &["gatedrepoerror", "trying to access a gated repo", "access to model"],
        "access to the weights is restricted",
        "accept their licence at Hugging Face and set HF_TOKEN, or name a folder that has them with --weights",
    ),
    (
        &[
            "repositorynotfounderror",
            "is not a local folder and is not a valid model identifier",
            "401 client error",
            "404 client error",
            "failed to open gguf file",
            "failed to load model",
            "error loading model",
            "can't load the configuration of",
            "does not appear to have a file named",
            "incorrect path_or_model_id",
            "repo id must be in the form",
        ],
        "the weights are not found",
        "see whether --weights names a folder, a file or a repository that exists; a private one needs HF_TOKEN",
    ),
    (
        &["unrecognized arguments", "invalid argument:", "error: argument", "invalid choice", "unknown argument"],
        "it does not understand its command line",
        "compare the flags after `--` with what this version of the engine takes (--dry-run prints the whole line)",
    ),
    (
        &["unknown model architecture", "are not supported for now", "does not recognize this architecture"],
        "it does not know models of this kind",
        "use a newer version of the engine, or another engine",
    ),
    (
        &["no space left on device"],
        "the disk is full",
        "make room where weights are kept (HF_HOME), and in /dev/shm for several GPUs",
    ),
    (
        &["no module named", "cannot be started:", "modulenotfounderror"],
        "the engine is not installed",
        "install it, or name its executable with --program",
    ),
];

/// What is wrong, and what to do about it, in one or two sentences.
pub fn diagnose(exit: Exit, lines: &[String]) -> String {
    let found = SIGNS.iter().find_map(|(signs, what, advice)| {
        let gives_away = |line: &&String| {
            let line = line.to_lowercase();
            signs.iter().any(|sign| line.contains(sign))
        };
        Some((lines.iter().rfind(gives_away)?, what, advice))
    });
    if let Some((line, what, advice)) = found {
        return format!("{what} ({exit}): {advice}. It said: {}", shown(line));
    }
    let last = lines.iter().rfind(|line| !line.trim().is_empty());
    let last = last.map_or("It said nothing.".to_owned(), |line| format!("Its last words: {}", shown(line)));
    match exit {
        // The kernel kills nobody else so: it says nothing before.
        Exit::Signal(9) => format!(
            "killed ({exit}), most likely because the machine has no memory left: see `dmesg`, and give it less. {last}"
        ),
        Exit::Code(0) => format!("it ended by itself, without an error. {last}"),
        _ => format!("it ended ({exit}). {last}"),
    }
}

/// A line as it can be shown; it may hold anything.
fn shown(line: &str) -> String {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
