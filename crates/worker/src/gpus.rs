//! The GPUs of this machine, as NVIDIA's driver tells of them. Its library is looked for when the program runs: where
//! there is none, there are no GPUs that we know of.

use domain::api::workers::Gpu;
use nvml_wrapper::Nvml;
use tracing::debug;

const MIB: u64 = 1 << 20;

/// The driver, if there is one.
pub struct Driver(Option<Nvml>);

impl Driver {
    pub fn open() -> Self {
        Self(Nvml::init().inspect_err(|error| debug!(%error, "no GPU figures")).ok())
    }

    /// What it says now. Of a GPU that does not answer nothing is said.
    pub fn gpus(&self) -> Vec<Gpu> {
        let Some(nvml) = &self.0 else { return Vec::new() };
        let count = nvml.device_count().unwrap_or(0);
        (0..count).filter_map(|index| read(nvml, index)).collect()
    }

    /// Those of these numbers; all, if there is no choice.
    pub fn chosen(&self, chosen: Option<&[u32]>) -> Vec<Gpu> {
        let mut gpus = self.gpus();
        gpus.retain(|gpu| chosen.is_none_or(|chosen| chosen.contains(&gpu.index)));
        gpus
    }
}

fn read(nvml: &Nvml, index: u32) -> Option<Gpu> {
    let device = nvml.device_by_index(index).ok()?;
    let memory = device.memory_info().ok()?;
    Some(Gpu {
        index,
        name: device.name().unwrap_or_else(|_| "GPU".to_owned()),
        memory_total: memory.total / MIB,
        memory_used: memory.used / MIB,
        utilisation: device.utilization_rates().ok().map(|rates| rates.gpu.min(100)),
    })
}
