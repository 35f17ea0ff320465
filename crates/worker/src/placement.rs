//! Which model goes on which GPUs of a machine: by memory, the largest first, each where it first fits.

use domain::api::workers::{Engine, Gpu};

use super::config::{ModelConfig, ModelConfigError};

/// MiB in a GB of 10^9 bytes, as people and weights count.
const MIB_IN_GB: f64 = 1e9 / 1_048_576.0;

/// Where one model goes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Placement {
    /// Every GPU, if nothing is said.
    pub gpus: Option<Vec<u32>>,
    /// Share of each GPU's memory that is the model's.
    pub share: Option<f64>,
}

/// A place for each of the models.
///
/// # Errors
/// All those that have none.
pub fn place(models: &[ModelConfig], gpus: &[Gpu]) -> Result<Vec<Placement>, Vec<ModelConfigError>> {
    let mut free: Vec<FreeMemory> = gpus.iter().map(FreeMemory::of).collect();
    let mut placed = vec![Placement::default(); models.len()];
    let mut homeless = Vec::new();
    for (number, config) in by_size(models) {
        if config.engine == Engine::External || (models.len() == 1 && config.memory_gb.is_none()) {
            placed[number].gpus.clone_from(&config.gpus);
            continue;
        }
        // llama.cpp's engine runs on processors, too.
        if gpus.is_empty() && config.engine == Engine::LlamaServer {
            continue;
        }
        match find(config, &mut free) {
            Ok(place) => placed[number] = place,
            Err((field, why)) => homeless.push(ModelConfigError { model: number, field, why }),
        }
    }
    homeless.sort_by_key(|one| one.model);
    if homeless.is_empty() { Ok(placed) } else { Err(homeless) }
}

/// Those whose GPUs were chosen by a person first, for they can go nowhere else; then the largest.
fn by_size(models: &[ModelConfig]) -> Vec<(usize, &ModelConfig)> {
    let mut models: Vec<_> = models.iter().enumerate().collect();
    models.sort_by(|(_, a), (_, b)| {
        let chosen = b.gpus.is_some().cmp(&a.gpus.is_some());
        chosen.then(each(b).unwrap_or(0.0).total_cmp(&each(a).unwrap_or(0.0)))
    });
    models
}

/// What a model takes of each of its GPUs, in MiB.
fn each(config: &ModelConfig) -> Option<f64> {
    Some(config.memory_gb? * MIB_IN_GB / f64::from(config.gpu_count()))
}

/// The memory of a GPU that nobody has yet, in MiB.
struct FreeMemory {
    index: u32,
    total: f64,
    free: f64,
}

impl FreeMemory {
    #[expect(clippy::cast_precision_loss, reason = "no GPU has 2^52 MiB")]
    fn of(gpu: &Gpu) -> Self {
        let total = gpu.memory_total as f64;
        Self { index: gpu.index, total, free: total - gpu.memory_used as f64 }
    }
}

fn find(config: &ModelConfig, rooms: &mut [FreeMemory]) -> Result<Placement, (&'static str, String)> {
    let needed = each(config);
    if let Some(gpus) = &config.gpus {
        let known = || rooms.iter().map(|room| room.index.to_string()).collect::<Vec<_>>().join(", ");
        if let Some(unknown) = gpus.iter().find(|gpu| rooms.iter().all(|room| room.index != **gpu)) {
            return Err(("gpus", format!("this machine shows no GPU {unknown}; it shows: {}", or_none(known()))));
        }
    }
    let Some(needed) = needed else {
        return match &config.gpus {
            Some(gpus) => {
                // Its size is unknown, so what it has is its own.
                rooms.iter_mut().filter(|room| gpus.contains(&room.index)).for_each(|room| room.free = 0.0);
                Ok(Placement { gpus: Some(gpus.clone()), share: None })
            }
            None => Err(("memory_gb", "is missing: without it or `gpus` the model cannot be placed".to_owned())),
        };
    };
    let may = |room: &FreeMemory| config.gpus.as_ref().is_none_or(|gpus| gpus.contains(&room.index));
    let count = config.gpu_count() as usize;
    let fits: Vec<usize> =
        (0..rooms.len()).filter(|&n| may(&rooms[n]) && rooms[n].free >= needed).take(count).collect();
    if fits.len() < count {
        return Err(("memory_gb", too_large(config, needed, rooms)));
    }
    let share = fits.iter().map(|&n| needed / rooms[n].total).fold(0.0, f64::max);
    for &n in &fits {
        rooms[n].free -= needed;
    }
    let gpus = fits.iter().map(|&n| rooms[n].index).collect();
    // Rounded down: two halves must not be more than the whole.
    Ok(Placement { gpus: Some(gpus), share: Some((share * 1000.0).floor() / 1000.0) })
}

fn too_large(config: &ModelConfig, needed: f64, rooms: &[FreeMemory]) -> String {
    let left: Vec<String> =
        rooms.iter().map(|room| format!("{:.1} GB on GPU {}", room.free.max(0.0) / MIB_IN_GB, room.index)).collect();
    let on = if config.gpu_count() == 1 { "a GPU".to_owned() } else { format!("each of {} GPUs", config.gpu_count()) };
    format!("`{}` needs {:.1} GB on {on}; left for it: {}", config.model, needed / MIB_IN_GB, or_none(left.join(", ")))
}

fn or_none(list: String) -> String {
    if list.is_empty() { "none".to_owned() } else { list }
}

#[cfg(test)]
mod tests;
