//! The crates that the code of a target names: the first part of every path, as a platform sees the sources.

use super::conditions::Conditions;
use anyhow::{Context, Result};
use proc_macro2::{Ident, TokenStream, TokenTree};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItem, Item, ItemMod, Stmt, TraitItem, UseTree};

/// The first use of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub file: PathBuf,
    pub line: usize,
}

/// Finds every possible name of a crate in the file of a target and in its modules. Names of modules are among them.
pub fn of(file: &Path, conditions: &Conditions, sources: &mut Sources) -> Result<BTreeMap<String, Named>> {
    let mut names = BTreeMap::new();
    let directory = file.parent().unwrap_or(Path::new("")).to_owned();
    let mut waiting = vec![(file.to_owned(), directory)];
    while let Some((file, directory)) = waiting.pop() {
        let parsed = sources.parsed(&file)?;
        if !conditions.keep(&parsed.attrs) {
            continue;
        }
        let mut walk = Walk { file, directory, inline: 0, conditions, names: &mut names, modules: Vec::new() };
        walk.visit_file(&parsed);
        waiting.append(&mut walk.modules);
    }
    Ok(names)
}

/// Parsed files, shared by all platforms.
#[derive(Default)]
pub struct Sources(HashMap<PathBuf, Rc<syn::File>>);

impl Sources {
    fn parsed(&mut self, file: &Path) -> Result<Rc<syn::File>> {
        if let Some(parsed) = self.0.get(file) {
            return Ok(parsed.clone());
        }
        let source = std::fs::read_to_string(file).with_context(|| format!("{}: cannot be read", file.display()))?;
        let parsed = syn::parse_file(&source).with_context(|| format!("{}: cannot be parsed", file.display()))?;
        let parsed = Rc::new(parsed);
        self.0.insert(file.to_owned(), parsed.clone());
        Ok(parsed)
    }
}

struct Walk<'a> {
    file: PathBuf,
    /// The directory of the modules that are files of their own.
    directory: PathBuf,
    /// The number of inline modules around this place.
    inline: usize,
    conditions: &'a Conditions,
    names: &'a mut BTreeMap<String, Named>,
    /// Files of modules, each with the directory of its own modules.
    modules: Vec<(PathBuf, PathBuf)>,
}

impl Walk<'_> {
    fn name(&mut self, name: &Ident) {
        let named = || Named { file: self.file.clone(), line: name.span().start().line };
        self.names.entry(name.to_string()).or_insert_with(named);
    }

    /// Takes the first part of everything that looks like a path, in code for macros.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(name) if is_colon(at + 1) && is_colon(at + 2) && !(at > 0 && is_colon(at - 1)) => {
                    self.name(name);
                }
                _ => {}
            }
        }
    }

    /// Notes the file of a module, with the directory of its own modules.
    fn module(&mut self, module: &ItemMod) {
        let name = module.ident.to_string();
        let own = |file: PathBuf| {
            let directory = file.parent().unwrap_or(Path::new("")).to_owned();
            (file, directory)
        };
        if let Some(path) = self.conditions.path(&module.attrs) {
            // Next to the file; for a module within the file, in the directory of that module.
            let base = if self.inline > 0 { Some(self.directory.as_path()) } else { self.file.parent() };
            self.modules.push(own(base.unwrap_or(Path::new("")).join(path)));
            return;
        }
        let directory = self.directory.join(&name);
        let alone = self.directory.join(format!("{name}.rs"));
        let file = if alone.is_file() { alone } else { directory.join("mod.rs") };
        self.modules.push((file, directory));
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if self.conditions.keep(attributes_of_item(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if module.content.is_none() {
            self.module(module);
            return;
        }
        let outer = self.directory.clone();
        self.directory.push(module.ident.to_string());
        self.inline += 1;
        visit::visit_item_mod(self, module);
        self.inline -= 1;
        self.directory = outer;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut trees = vec![&item.tree];
        while let Some(tree) = trees.pop() {
            match tree {
                UseTree::Path(path) => self.name(&path.ident),
                UseTree::Name(name) => self.name(&name.ident),
                UseTree::Rename(rename) => self.name(&rename.ident),
                UseTree::Group(group) => trees.extend(&group.items),
                UseTree::Glob(_) => {}
            }
        }
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        self.name(&item.ident);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let (Some(first), true) = (path.segments.first(), path.segments.len() > 1) {
            self.name(&first.ident);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_meta_list(&mut self, list: &'ast syn::MetaList) {
        self.tokens(list.tokens.clone());
        visit::visit_meta_list(self, list);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes = match statement {
            Stmt::Local(local) => &local.attrs[..],
            Stmt::Macro(call) => &call.attrs,
            Stmt::Item(_) | Stmt::Expr(..) => &[],
        };
        if self.conditions.keep(attributes) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        if self.conditions.keep(attributes_of_expression(expression)) {
            visit::visit_expr(self, expression);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if self.conditions.keep(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if self.conditions.keep(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if self.conditions.keep(&field.attrs) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if self.conditions.keep(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs[..],
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => &[],
        };
        if self.conditions.keep(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes = match item {
            TraitItem::Const(item) => &item.attrs[..],
            TraitItem::Fn(item) => &item.attrs,
            TraitItem::Type(item) => &item.attrs,
            TraitItem::Macro(item) => &item.attrs,
            _ => &[],
        };
        if self.conditions.keep(attributes) {
            visit::visit_trait_item(self, item);
        }
    }
}

fn attributes_of_item(item: &Item) -> &[Attribute] {
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

/// Returns the attributes of an expression, for the kinds that occur as statements with conditions.
fn attributes_of_expression(expression: &Expr) -> &[Attribute] {
    match expression {
        Expr::Assign(expression) => &expression.attrs,
        Expr::Block(expression) => &expression.attrs,
        Expr::Call(expression) => &expression.attrs,
        Expr::ForLoop(expression) => &expression.attrs,
        Expr::If(expression) => &expression.attrs,
        Expr::Loop(expression) => &expression.attrs,
        Expr::Macro(expression) => &expression.attrs,
        Expr::Match(expression) => &expression.attrs,
        Expr::MethodCall(expression) => &expression.attrs,
        Expr::Path(expression) => &expression.attrs,
        Expr::Return(expression) => &expression.attrs,
        Expr::Struct(expression) => &expression.attrs,
        Expr::Tuple(expression) => &expression.attrs,
        Expr::Unsafe(expression) => &expression.attrs,
        Expr::While(expression) => &expression.attrs,
        _ => &[],
    }
}
