//! The crates of a workspace, as `cargo metadata` tells them: who depends on whom.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{
    CargoOpt, Dependency, DependencyKind, Metadata, MetadataCommand, NodeDep, Package, PackageId, Target, TargetKind,
};

#[derive(Default)]
pub struct Workspace {
    pub crates: BTreeMap<String, Crate>,
}

#[derive(Default)]
pub struct Crate {
    pub folder: PathBuf,
    /// The root file of each library and program.
    pub roots: Vec<Root>,
    /// Crates of the workspace that it depends on, for its tests alone included.
    pub uses: BTreeSet<String>,
    /// All crates that end up in what is built of it, other crates' dependencies included; what its tests need excepted.
    pub built_from: BTreeSet<String>,
}

pub struct Root {
    /// As code names it.
    pub name: String,
    pub file: PathBuf,
    /// Whether cargo compiles and runs the tests in it.
    pub is_tested: bool,
}

/// What the crates of a workspace may know of each other.
pub struct Rules<'a> {
    /// A crate, and the crates of the workspace that it may depend on.
    pub dependencies: &'a [(&'a str, &'a [&'a str])],
    /// Crates that must build without some others, at any remove.
    pub free_of: &'a [(&'a str, &'a [&'a str])],
}

impl Workspace {
    pub fn read(folder: &Path) -> Result<Self, cargo_metadata::Error> {
        let mut command = MetadataCommand::new();
        // What this machine builds with is all that it has downloaded.
        let options = ["--offline".to_owned(), format!("--filter-platform={}", host()?)];
        let metadata = command.current_dir(folder).features(CargoOpt::AllFeatures).other_options(options).exec()?;
        let packages: HashMap<&PackageId, &Package> = metadata.packages.iter().map(|own| (&own.id, own)).collect();
        let graph = BuildGraph::of(&metadata);
        let ours: BTreeSet<&str> = metadata.workspace_packages().into_iter().map(|own| own.name.as_str()).collect();
        let is_ours = |own: &&Dependency| own.path.is_some() && ours.contains(own.name.as_str());
        let read = |package: &Package| Crate {
            folder: package.manifest_path.parent().map(|folder| folder.to_owned().into()).unwrap_or_default(),
            roots: roots(package),
            uses: package.dependencies.iter().filter(is_ours).map(|own| own.name.clone()).collect(),
            built_from: graph.reached_from(&package.id).map(|id| packages[id].name.to_string()).collect(),
        };
        let crates = metadata.workspace_packages().into_iter().map(|own| (own.name.to_string(), read(own)));
        Ok(Self { crates: crates.collect() })
    }

    /// What breaks the rules, in words.
    pub fn problems(&self, rules: &Rules<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        let known: BTreeMap<&str, &[&str]> = rules.dependencies.iter().copied().collect();
        for name in known.keys().filter(|name| !self.crates.contains_key(**name)) {
            problems.push(format!("{name} has a row, but is no crate"));
        }
        for (name, krate) in &self.crates {
            let Some(allowed) = known.get(name.as_str()) else {
                problems.push(format!("{name} has no row that says which crates it may depend on"));
                continue;
            };
            for used in krate.uses.iter().filter(|used| !allowed.contains(&used.as_str())) {
                problems.push(format!("{name} must not depend on {used}"));
            }
        }
        for (name, banned) in rules.free_of {
            let built_from = self.crates.get(*name).map(|own| &own.built_from);
            for banned in banned.iter().filter(|banned| built_from.is_some_and(|all| all.contains(**banned))) {
                problems.push(format!("{name} must not be built from {banned}"));
            }
        }
        problems
    }
}

/// The triple of this machine.
fn host() -> Result<String, cargo_metadata::Error> {
    let told = Command::new("rustc").arg("-vV").output()?;
    let told = String::from_utf8(told.stdout)?;
    Ok(told.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned())
}

fn roots(package: &Package) -> Vec<Root> {
    let built = [TargetKind::Lib, TargetKind::Bin];
    let targets = package.targets.iter().filter(|target| target.kind.iter().any(|kind| built.contains(kind)));
    let root = |target: &Target| Root {
        name: target.name.replace('-', "_"),
        file: target.src_path.clone().into(),
        is_tested: target.test,
    };
    targets.map(root).collect()
}

/// Which package is built from which. What only tests need is left out.
struct BuildGraph<'a>(HashMap<&'a PackageId, Vec<&'a PackageId>>);

impl<'a> BuildGraph<'a> {
    fn of(metadata: &'a Metadata) -> Self {
        let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
        let is_built = |own: &&NodeDep| own.dep_kinds.iter().any(|info| info.kind != DependencyKind::Development);
        let edges = nodes.map(|node| (&node.id, node.deps.iter().filter(is_built).map(|own| &own.pkg).collect()));
        Self(edges.collect())
    }

    fn reached_from(&self, start: &'a PackageId) -> impl Iterator<Item = &'a PackageId> {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(package) = open.pop() {
            for next in self.0.get(package).into_iter().flatten() {
                if reached.insert(*next) {
                    open.push(next);
                }
            }
        }
        reached.into_iter()
    }
}

/// Lines of Rust below a folder.
pub fn lines_below(folder: &Path) -> std::io::Result<usize> {
    sources_below(folder)?.iter().map(|path| Ok(std::fs::read_to_string(path)?.lines().count())).sum()
}

/// Files of Rust below a folder.
pub fn sources_below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources_below(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}
