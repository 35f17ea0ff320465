//! Installing what is missing: by apt-get where we may, else by saying what to do.

use std::process::Command;

use anyhow::{Result, bail};
use parking_lot::Mutex;

use crate::places::find_program;
use crate::process::{quiet, succeeds};

/// Debian's package would also start a server of its own on port 5432; ours is private.
const WITHOUT_MAIN_CLUSTER: &str = "
conf=/etc/postgresql-common/createcluster.d/groundstate.conf
mkdir -p /etc/postgresql-common/createcluster.d
trap 'rm -f $conf' EXIT
echo 'create_main_cluster = false' > $conf
";

/// The package lists of a bare machine are empty or old, hence the second try.
const APT_GET: &str = "
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 \"$@\"; }
install \"$@\" || { apt-get update -qq && install \"$@\"; }
";

/// apt-get does not wait for another that reads its lists.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub fn programs(programs: &[&str], packages: &[&str]) -> Result<()> {
    if programs.iter().all(|program| find_program(&[program]).is_some()) {
        return Ok(());
    }
    apt("", packages)
}

pub fn packages(packages: &[&str]) -> Result<()> {
    apt("", packages)
}

pub fn postgres() -> Result<()> {
    if database::is_installed() { Ok(()) } else { apt(WITHOUT_MAIN_CLUSTER, &["postgresql"]) }
}

fn apt(before: &str, packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    if find_program(&["apt-get"]).is_none() {
        bail!(
            "not installed: {list} (the names of Debian's packages). Install them with this system's means and repeat"
        );
    }
    let mut command = if database::runs_as_root() {
        Command::new("sh")
    } else if succeeds(Command::new("sudo").args(["-n", "true"])) {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "sh"]);
        sudo
    } else {
        bail!("not installed, and sudo asks for a password. Run this and repeat:\n  sudo apt-get install -y {list}");
    };
    let _turn = ONE_AT_A_TIME.lock();
    println!("==> installing {list}");
    quiet(command.arg("-ec").arg(format!("{before}{APT_GET}")).arg("install").args(packages)).map(drop)
}
