//! The modules of a crate: what each declares and imports, and which paths its code names.
//!
//! Code that is compiled in tests only is left out: a test may know everything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, Token, UseTree};

/// Segments from the root of the crate, which is the empty path.
pub type ModulePath = Vec<String>;

#[derive(Default)]
pub struct Modules {
    pub modules: BTreeMap<ModulePath, Module>,
}

#[derive(Default)]
pub struct Module {
    /// Names of what it declares, modules and imports excepted.
    pub items: BTreeSet<String>,
    /// What it imports: the name here, and the path as it is written.
    pub imports: BTreeMap<String, Vec<String>>,
    /// What it imports all names of.
    pub globs: Vec<PathReference>,
    pub references: Vec<PathReference>,
}

/// A path that code names.
pub struct PathReference {
    /// As it is written. The first segment of `::name` is empty.
    pub path: Vec<String>,
    /// File and line.
    pub place: String,
}

/// The text of a file, if there is one.
pub type ReadFile<'a> = dyn Fn(&Path) -> Option<String> + 'a;

impl Modules {
    /// Reads a crate from the file of its root on.
    ///
    /// # Errors
    /// Says which file is missing or cannot be parsed, or which declaration of a module is not understood.
    pub fn read(root: &Path, read_file: &ReadFile<'_>) -> Result<Self, String> {
        let mut reader = Reader { read_file, modules: Self::default() };
        reader.file(root, folder_of(root)?, Vec::new())?;
        Ok(reader.modules)
    }
}

fn folder_of(file: &Path) -> Result<PathBuf, String> {
    let folder = file.parent().ok_or_else(|| format!("{} has no folder", file.display()))?;
    Ok(folder.to_owned())
}

struct Reader<'a> {
    read_file: &'a ReadFile<'a>,
    modules: Modules,
}

impl Reader<'_> {
    /// `folder`: where the modules that the file declares are looked for.
    fn file(&mut self, file: &Path, folder: PathBuf, module: ModulePath) -> Result<(), String> {
        let text = (self.read_file)(file).ok_or_else(|| format!("{} is missing", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        self.items(&parsed.items, file, folder, module)
    }

    fn items(&mut self, items: &[Item], file: &Path, folder: PathBuf, module: ModulePath) -> Result<(), String> {
        let mut visitor = ModuleVisitor { file, module: Module::default(), in_attribute: false };
        for item in items.iter().filter(|item| !is_for_tests(attributes_of(item))) {
            visitor.module.items.extend(name_of(item));
            visitor.visit_item(item);
        }
        self.modules.modules.insert(module.clone(), visitor.module);
        for item in items {
            if let Item::Mod(child) = item
                && !is_for_tests(&child.attrs)
            {
                let name = child.ident.to_string();
                if child.attrs.iter().any(|attribute| attribute.path().is_ident("path")) {
                    return Err(format!("{}: `#[path]` of module {name} is not understood", file.display()));
                }
                let module = [module.clone(), vec![name.clone()]].concat();
                let below = folder.join(&name);
                match &child.content {
                    Some((_, items)) => self.items(items, file, below, module)?,
                    None => {
                        let (beside, inside) = (folder.join(format!("{name}.rs")), below.join("mod.rs"));
                        let file = if (self.read_file)(&beside).is_some() { beside } else { inside };
                        self.file(&file, below, module)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Collects what stands in one module, but not in the modules below it.
struct ModuleVisitor<'a> {
    file: &'a Path,
    module: Module,
    in_attribute: bool,
}

impl ModuleVisitor<'_> {
    fn reference(&self, path: Vec<String>, at: Span) -> PathReference {
        PathReference { path, place: format!("{}:{}", self.file.display(), at.start().line) }
    }

    fn note(&mut self, path: Vec<String>, at: &Ident) {
        let reference = self.reference(path, at.span());
        self.module.references.push(reference);
    }

    fn import(&mut self, tree: &UseTree, prefix: &[String]) {
        let named = |name: &Ident| {
            let inner: &[String] = if name == "self" { &[] } else { &[name.to_string()] };
            [prefix, inner].concat()
        };
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &[prefix, &[path.ident.to_string()]].concat()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, prefix)),
            UseTree::Glob(glob) => {
                let glob = self.reference(prefix.to_vec(), glob.star_token.span);
                self.module.globs.push(glob);
            }
            UseTree::Name(name) => {
                let path = named(&name.ident);
                if let Some(last) = path.last() {
                    self.module.imports.entry(last.clone()).or_insert_with(|| path.clone());
                }
                self.note(path, &name.ident);
            }
            UseTree::Rename(renamed) => {
                let path = named(&renamed.ident);
                self.module.imports.entry(renamed.rename.to_string()).or_insert_with(|| path.clone());
                self.note(path, &renamed.ident);
            }
        }
    }

    /// Finds the paths in what a macro or an attribute is given, which may be no Rust.
    ///
    /// `prefix`: the path before the braces that the tokens stand in, as in `use a::{b, c::d}`.
    fn scan(&mut self, tokens: TokenStream, prefix: &[String]) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            match tree {
                TokenTree::Group(group) => self.scan(group.stream(), &[]),
                TokenTree::Literal(literal) if self.in_attribute => self.scan_text(&literal.to_string()),
                TokenTree::Ident(first) if !follows_colons(&trees, at) => {
                    let mut path = [prefix, &[first.to_string()]].concat();
                    while let Some(TokenTree::Ident(next)) = trees.get(at + 3)
                        && is_colons(&trees, at + 1)
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    match trees.get(at + 3) {
                        Some(TokenTree::Group(group))
                            if is_colons(&trees, at + 1) && group.delimiter() == Delimiter::Brace =>
                        {
                            self.scan(group.stream(), &path);
                            at += 3;
                        }
                        _ if path.len() > 1 => self.note(path, first),
                        _ => {}
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// `#[serde(with = "crate::seconds")]`: a path in a text.
    fn scan_text(&mut self, literal: &str) {
        if let Ok(path) = syn::parse_str::<syn::LitStr>(literal).and_then(|text| text.parse::<syn::Path>()) {
            self.visit_path(&path);
        }
    }
}

/// Whether `::` stands there.
fn is_colons(trees: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize| match trees.get(at) {
        Some(TokenTree::Punct(punct)) if punct.as_char() == ':' => Some(punct.spacing()),
        _ => None,
    };
    colon(at) == Some(Spacing::Joint) && colon(at + 1).is_some()
}

fn follows_colons(trees: &[TokenTree], at: usize) -> bool {
    at.checked_sub(2).is_some_and(|before| is_colons(trees, before))
}

impl<'ast> Visit<'ast> for ModuleVisitor<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !is_for_tests(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // What stands in it belongs to another module.
        item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let prefix = if item.leading_colon.is_some() { vec![String::new()] } else { Vec::new() };
        self.import(&item.tree, &prefix);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path.leading_colon.is_some() {
            segments.insert(0, String::new());
        }
        if segments.len() > 1 {
            self.note(segments, &path.segments[0].ident);
        }
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if !attribute.path().is_ident("doc") {
            let outer = std::mem::replace(&mut self.in_attribute, true);
            visit::visit_attribute(self, attribute);
            self.in_attribute = outer;
        }
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        if self.in_attribute {
            self.scan_text(&text.token().to_string());
        }
    }

    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        self.scan(tokens.clone(), &[]);
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg") && attribute.parse_args().is_ok_and(|meta| means_tests_only(&meta))
    })
}

fn means_tests_only(meta: &Meta) -> bool {
    let Meta::List(list) = meta else { return meta.path().is_ident("test") };
    let Ok(inner) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else { return false };
    if list.path.is_ident("all") {
        inner.iter().any(means_tests_only)
    } else {
        list.path.is_ident("any") && inner.iter().all(means_tests_only)
    }
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
