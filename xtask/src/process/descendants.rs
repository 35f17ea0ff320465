//! Children and theirs, as far as they are in our process group: others look after themselves.

use std::fs;

use rustix::process::{Pid, getpgrp, getpid};

struct Process {
    pid: i32,
    parent: i32,
    group: i32,
}

pub fn in_our_group() -> Vec<Pid> {
    let all = all_processes();
    let mut found = vec![getpid().as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(all.iter().filter(|process| process.parent == parent).map(|process| process.pid));
        next += 1;
    }
    let group = getpgrp().as_raw_nonzero().get();
    let ours = |pid: &i32| all.iter().any(|process| process.pid == *pid && process.group == group);
    found.into_iter().skip(1).filter(ours).filter_map(Pid::from_raw).collect()
}

/// From /proc; on a system without it there are none, and only the terminal's Ctrl-C works.
fn all_processes() -> Vec<Process> {
    let pids =
        fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    pids.filter_map(|pid| parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)).collect()
}

/// `pid (name) state parent group ...`, where the name may hold anything.
fn parse(stat: &str) -> Option<Process> {
    let (pid, _) = stat.split_once(' ')?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ').skip(1);
    let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Process { pid: pid.parse().ok()?, parent, group })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_is_no_obstacle() {
        let process = parse("12 (a) b) S 3 4 5 0").unwrap();
        assert_eq!((process.pid, process.parent, process.group), (12, 3, 4));
    }

    #[test]
    fn a_child_is_found() {
        let mut child = std::process::Command::new("sleep").arg("5").spawn().unwrap();
        let found = in_our_group().iter().any(|pid| pid.as_raw_nonzero().get().cast_unsigned() == child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found || !std::path::Path::new("/proc").exists());
    }
}
