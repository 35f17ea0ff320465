//! llama.cpp's server, built from its sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result};

use super::{Cache, Progress, TOOLS, download};
use crate::process::{quiet, run};
use crate::{hash, install, python};

const SOURCE: &str = "xtask/src/local_model/engine.txt";
const PROGRAM: &str = "llama-server";
const QUICK: &str = "xtask/src/local_model/engine.cmake";
/// For this very processor, in one file, and without what it would fetch by itself.
const FLAGS: [&str; 8] = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DGGML_NATIVE=ON",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
];

pub fn get(cache: &Cache, progress: Progress) -> Result<PathBuf> {
    let processor = processor();
    let inputs = [&FLAGS[..], &[&processor]].concat();
    let name = format!("engine-{}", hash::of_files(&[SOURCE, QUICK], &inputs)?);
    let folder = cache.folder(&name, |folder| build(folder, progress))?;
    Ok(folder.join(PROGRAM))
}

fn build(folder: &Path, progress: Progress) -> Result<()> {
    install::programs(&["g++", "make"], &["g++", "make"])?;
    println!("==> fetching the sources of llama.cpp (37 MB, once)");
    let archive = download(SOURCE, &folder.join("download"))?;
    let (sources, build) = (folder.join("sources"), folder.join("build"));
    fs::create_dir(&sources)?;
    quiet(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&sources).args([
        "--strip-components=1",
        "--wildcards",
        "*/llama.cpp",
    ]))?;
    println!("==> building {PROGRAM} (once; about ten minutes of one core)");
    let cmake = python::environment("local-model-tools", TOOLS)?.join("cmake");
    let quickly = Path::new(QUICK).canonicalize()?;
    let mut configure = Command::new(&cmake);
    configure.arg(format!("-DCMAKE_PROJECT_INCLUDE={}", quickly.display()));
    configure.arg("-S").arg(sources.join("llama.cpp")).arg("-B").arg(&build).args(FLAGS);
    quiet(&mut configure)?;
    let jobs = thread::available_parallelism()?.to_string();
    // It is in nobody's way: steps that are tested go first.
    let mut make = Command::new("nice");
    make.args(["-n", "19"]).arg(&cmake).arg("--build").arg(&build).args(["--target", PROGRAM, "-j", &jobs]);
    match progress {
        Progress::Shown => run(&mut make)?,
        Progress::Hidden => drop(quiet(&mut make)?),
    }
    fs::rename(build.join("bin").join(PROGRAM), folder.join(PROGRAM))?;
    quiet(Command::new(folder.join(PROGRAM)).arg("--version")).context("it was built, and does not start")?;
    for used in ["download", "sources", "build"] {
        fs::remove_dir_all(folder.join(used))?;
    }
    Ok(())
}

/// A cache that travels to a machine with another processor must not be taken there: the program would crash.
fn processor() -> String {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = |name: &str| about.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    format!("{} {} {}", std::env::consts::ARCH, line("model name"), line("flags"))
}
