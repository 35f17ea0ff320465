//! What the machine spends, from /proc.

use std::fs;

/// Ticks of `/proc/stat` in a second.
const TICKS: f64 = 100.0;

/// CPU seconds that all processes have used since the machine started.
pub fn busy() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks: Vec<f64> =
        stat.lines().next().unwrap_or_default().split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal
    let idle: f64 = ticks.iter().skip(3).take(2).sum();
    (ticks.iter().take(8).sum::<f64>() - idle) / TICKS
}

/// CPU seconds of a process.
pub fn cpu(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    after.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum::<f64>() / TICKS
}

/// CPU seconds of a process, of those that it has started, and of theirs. What has ended counts if somebody waited for its end.
pub fn cpu_of_tree(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    // Its own, and that of its children that have ended.
    let own = after.split_whitespace().skip(11).take(4).filter_map(|n| n.parse::<f64>().ok()).sum::<f64>() / TICKS;
    own + children(pid).into_iter().map(|(child, _)| cpu_of_tree(child)).sum::<f64>()
}

/// The most memory that a process had resident, in bytes.
pub fn peak_memory(pid: u32) -> u64 {
    kilobytes(&format!("/proc/{pid}/status"), "VmHWM:")
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Resident memory of a process, in bytes.
pub fn memory(pid: u32) -> u64 {
    kilobytes(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// The same, with what it shares with others counted in parts.
pub fn own_memory(pid: u32) -> u64 {
    kilobytes(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

/// The processes that a process has started, with their command lines.
pub fn children(pid: u32) -> Vec<(u32, String)> {
    let parent = |of: u32| {
        let stat = fs::read_to_string(format!("/proc/{of}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let line = |pid: u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ");
    pids.filter(|child| parent(*child) == Some(pid)).map(|child| (child, line(child))).collect()
}

fn kilobytes(file: &str, field: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or_default() * 1024
}
