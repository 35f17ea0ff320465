//! Which module a path leads to, as the compiler finds it: children, declared items, imports, globs; through re-exports.

use std::collections::BTreeSet;

use crate::modules::{ModulePath, Modules};

#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    /// A module of the crate, or something that is declared in it.
    Module(ModulePath),
    /// Another crate; or a name that leads nowhere: a generic parameter, a type of the prelude.
    External(Vec<String>),
}

/// A module's code names something of another module.
pub struct Edge {
    pub from: ModulePath,
    pub to: ModulePath,
    pub place: String,
}

/// A module's code names something of another crate.
pub struct ExternalUse {
    pub from: ModulePath,
    pub path: String,
    pub place: String,
}

impl Modules {
    pub fn edges(&self) -> Vec<Edge> {
        let edges = self.targets().filter_map(|(from, target, place)| match target {
            Target::Module(to) if to != *from => Some(Edge { from: from.clone(), to, place }),
            _ => None,
        });
        edges.collect()
    }

    pub fn external_uses(&self) -> Vec<ExternalUse> {
        let uses = self.targets().filter_map(|(from, target, place)| match target {
            Target::External(path) => Some(ExternalUse { from: from.clone(), path: path.join("::"), place }),
            Target::Module(_) => None,
        });
        uses.collect()
    }

    fn targets(&self) -> impl Iterator<Item = (&ModulePath, Target, String)> {
        self.modules.iter().flat_map(|(from, module)| {
            let named =
                module.references.iter().map(|reference| (self.resolve(from, &reference.path), &reference.place));
            let open = module.globs.iter().flat_map(|glob| {
                let open = self.resolve(from, &glob.path);
                let reexported = self.reexported_by(&open);
                reexported.into_iter().chain([open]).map(|target| (target, &glob.place))
            });
            named.chain(open).map(move |(target, place)| (from, target, place.clone()))
        })
    }

    /// Whoever imports all names of a module may use all that it imports.
    fn reexported_by(&self, target: &Target) -> Vec<Target> {
        let Target::Module(module) = target else { return Vec::new() };
        let Some(declared) = self.modules.get(module) else { return Vec::new() };
        let imports = declared.imports.keys().map(|name| self.resolve(module, std::slice::from_ref(name)));
        imports.chain(declared.globs.iter().map(|glob| self.resolve(module, &glob.path))).collect()
    }

    /// Where a path leads that is written in the module `from`.
    pub fn resolve(&self, from: &[String], path: &[String]) -> Target {
        Resolver { modules: self, seen: BTreeSet::new() }.resolve(from, path)
    }
}

struct Resolver<'a> {
    modules: &'a Modules,
    /// What was looked for, and where: globs may lead back to where they stand.
    seen: BTreeSet<(ModulePath, String)>,
}

impl Resolver<'_> {
    fn resolve(&mut self, from: &[String], path: &[String]) -> Target {
        match path.split_first() {
            Some((first, rest)) if first.is_empty() => Target::External(rest.to_vec()),
            Some((first, rest)) if first == "crate" => self.walk(&[], rest),
            Some((first, _)) if first == "self" || first == "super" => self.walk(from, path),
            _ => self.find(from, path).unwrap_or_else(|| Target::External(path.to_vec())),
        }
    }

    fn walk(&mut self, module: &[String], path: &[String]) -> Target {
        match path.split_first() {
            None => Target::Module(module.to_vec()),
            Some((first, rest)) if first == "self" => self.walk(module, rest),
            Some((first, rest)) if first == "super" => self.walk(&module[..module.len().saturating_sub(1)], rest),
            // A name that is found nowhere was made by a macro of this module.
            Some(_) => self.find(module, path).unwrap_or_else(|| Target::Module(module.to_vec())),
        }
    }

    /// Where a path leads whose first segment is a name in a module; `None` if the module has no such name.
    fn find(&mut self, module: &[String], path: &[String]) -> Option<Target> {
        let (name, rest) = path.split_first()?;
        if !self.seen.insert((module.to_vec(), name.clone())) {
            return None;
        }
        let child = [module, std::slice::from_ref(name)].concat();
        if self.modules.modules.contains_key(&child) {
            return Some(self.walk(&child, rest));
        }
        let declared = self.modules.modules.get(module)?;
        if declared.items.contains(name) {
            return Some(Target::Module(module.to_vec()));
        }
        if let Some(imported) = declared.imports.get(name) {
            return Some(self.resolve(module, &[imported, rest].concat()));
        }
        declared.globs.iter().find_map(|glob| match self.resolve(module, &glob.path) {
            Target::Module(open) => self.find(&open, path),
            Target::External(_) => None,
        })
    }
}
