//! Circles among the modules of a crate, found in the text of its source files.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use regex::Regex;

/// Words and signs, and what names no module: comments, strings, characters, lifetimes.
const TOKENS: &str = r#"(?x)
    //.* | (?s:/\*.*?\*/)
    | b?r"[^"]*" | b?r\#"(?s:.*?)"\# | b?r\#\#"(?s:.*?)"\#\# | b?"(?:[^"\\]|\\(?s:.))*"
    | b?'(?:[^'\\]|\\.[^']*)' | '[a-z_]+
    | [A-Za-z_][A-Za-z0-9_]* | :: | \.\. | [^\s0-9]"#;

/// A path, as written; for a module, its names from the root of the crate.
type Path = Vec<String>;

/// Dependencies between the modules of a folder, with the lines that cause them.
type Uses = BTreeMap<(String, String), BTreeSet<String>>;

/// Returns all circles among the modules of each folder: the dependencies in them, each with the lines that cause it.
///
/// The files are given by their paths in the source folder. Code for tests does not count, nor does what a module
/// uses of the modules that contain it or that it contains.
pub fn circles(files: &BTreeMap<String, String>) -> Vec<String> {
    let tokens = Regex::new(TOKENS).expect("the expression is valid");
    let mut modules = Modules { files, tokens, known: BTreeMap::new() };
    for root in ["lib.rs", "main.rs"].into_iter().filter(|root| files.contains_key(*root)) {
        modules.read_file(root, &[]);
    }
    let mut found = Vec::new();
    for (folder, uses) in modules.siblings() {
        let path = |name: &str| [folder, &[name.to_owned()]].concat().join("/");
        for ((one, other), lines) in uses.iter().filter(|((one, other), _)| leads(&uses, other, one)) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            found.push(format!("{} uses {}: {}", path(one), path(other), lines.join(", ")));
        }
    }
    found
}

/// Returns whether a chain of dependencies leads from one module to another.
fn leads(uses: &Uses, from: &str, to: &str) -> bool {
    let mut reached = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        let next = uses.keys().filter(|(one, _)| one == at).map(|(_, other)| other.as_str());
        open.extend(next.filter(|other| reached.insert(other)));
    }
    reached.contains(to)
}

/// The modules of a crate.
struct Modules<'a> {
    files: &'a BTreeMap<String, String>,
    tokens: Regex,
    known: BTreeMap<Path, Module>,
}

/// What a module names.
#[derive(Default)]
struct Module {
    /// Its imports, by the names that they have in it.
    imports: BTreeMap<String, Path>,
    /// All paths in its code, each with its file and line.
    paths: Vec<(Path, String)>,
}

/// What a path leads to.
enum Target {
    Module(Path),
    /// An item of this module.
    Item(Path),
}

impl Modules<'_> {
    fn read_file(&mut self, file: &str, module: &[String]) {
        let text = &self.files[file];
        let (mut tokens, mut line, mut end) = (Vec::new(), 1, 0);
        for token in self.tokens.find_iter(text) {
            line += text[end..token.start()].matches('\n').count();
            end = token.start();
            let token = token.as_str();
            if !token.starts_with("//") && !token.starts_with("/*") && !token.contains(['"', '\'']) {
                tokens.push((token, line));
            }
        }
        let mut code = Reader { file, tokens: &tokens, last: "" };
        self.read_code(&mut code, module);
        assert!(code.tokens.is_empty(), "{file} ends before its last brace");
    }

    /// Reads the code of a module, up to the brace that ends it.
    fn read_code(&mut self, code: &mut Reader, module: &[String]) {
        let mut own = self.known.remove(module).unwrap_or_default();
        let mut depth = 0;
        loop {
            let before = code.last;
            let Some((token, line)) = code.next() else { break };
            match token {
                "{" => depth += 1,
                "}" if depth == 0 => break,
                "}" => depth -= 1,
                "#" if code.is_test() => code.skip_item(),
                "use" => code.read_imports(&[], &mut own),
                "mod" => {
                    let Some((name, _)) = code.next() else { break };
                    self.read_module(code, &[module, &[name.to_owned()]].concat());
                }
                name if is_word(name) && !["::", "."].contains(&before) => {
                    let mut path = vec![name.to_owned()];
                    while code.peek(0) == "::" && is_word(code.peek(1)) {
                        code.next();
                        path.extend(code.next().map(|(name, _)| name.to_owned()));
                    }
                    if path.len() > 1 {
                        own.paths.push((path, format!("{}:{line}", code.file)));
                    }
                }
                _ => (),
            }
        }
        self.known.insert(module.to_vec(), own);
    }

    /// Reads a module within another one, or its file.
    fn read_module(&mut self, code: &mut Reader, module: &[String]) {
        if code.next().is_some_and(|(token, _)| token == "{") {
            return self.read_code(code, module);
        }
        let path = module.join("/");
        let homes = [format!("{path}.rs"), format!("{path}/mod.rs")];
        if let Some(file) = homes.iter().find(|file| self.files.contains_key(*file)) {
            self.read_file(file, module);
        }
    }

    /// Returns the dependencies between the modules of each folder.
    fn siblings(&self) -> BTreeMap<&[String], Uses> {
        let mut folders: BTreeMap<&[String], Uses> = BTreeMap::new();
        for (module, Module { paths, .. }) in &self.known {
            for (path, line) in paths {
                let Some(Target::Module(target) | Target::Item(target)) = self.find(module, path, 0) else {
                    continue;
                };
                let shared = module.iter().zip(&target).take_while(|(one, other)| one == other).count();
                if let (Some(one), Some(other)) = (module.get(shared), target.get(shared)) {
                    let uses = folders.entry(&module[..shared]).or_default();
                    uses.entry((one.clone(), other.clone())).or_default().insert(line.clone());
                }
            }
        }
        folders
    }

    /// Follows a path from a module, through imports and re-exports. A path of another crate leads to nothing.
    fn find(&self, from: &[String], path: &[String], followed: usize) -> Option<Target> {
        /// Maximum number of imports to follow, as an import may have the name of its crate.
        const IMPORTS: usize = 8;
        let mut at = from.to_vec();
        for (index, name) in path.iter().enumerate() {
            let inner = [at.as_slice(), slice::from_ref(name)].concat();
            match name.as_str() {
                "crate" => at.clear(),
                "self" => (),
                "super" => drop(at.pop()),
                _ if self.known.contains_key(&inner) => at = inner,
                _ => {
                    let import = self.known[&at].imports.get(name).filter(|_| followed < IMPORTS);
                    match import.and_then(|import| self.find(&at, import, followed + 1)) {
                        Some(Target::Module(module)) => at = module,
                        // The line of the import counts, not each use of the item.
                        Some(Target::Item(_)) if index == 0 && path.len() > 1 && followed == 0 => {
                            return None;
                        }
                        Some(item) => return Some(item),
                        None => return (index > 0).then_some(Target::Item(at)),
                    }
                }
            }
        }
        Some(Target::Module(at))
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// The rest of the tokens of a file, each with its line.
struct Reader<'a> {
    file: &'a str,
    tokens: &'a [(&'a str, usize)],
    /// The last token that was read.
    last: &'a str,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<(&'a str, usize)> {
        let (first, rest) = self.tokens.split_first()?;
        (self.tokens, self.last) = (rest, first.0);
        Some(*first)
    }

    fn peek(&self, ahead: usize) -> &'a str {
        self.tokens.get(ahead).map_or("", |(token, _)| token)
    }

    /// Returns whether the attribute that follows is `cfg(test)` or `cfg(all(test, ...))`.
    fn is_test(&self) -> bool {
        let attribute: String = (0..6).map(|ahead| self.peek(ahead)).collect();
        attribute.starts_with("[cfg(test)") || attribute.starts_with("[cfg(all(test")
    }

    /// Skips the rest of an item: up to its semicolon, or to the brace that ends it.
    fn skip_item(&mut self) {
        let mut depth = 0;
        while let Some((token, _)) = self.next() {
            match token {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => (),
            }
            if depth == 0 && ["}", ";"].contains(&token) {
                return;
            }
        }
    }

    /// Reads the imports of a `use` declaration, or of an entry of a list in it.
    fn read_imports(&mut self, list: &[String], module: &mut Module) {
        let mut path = list.to_vec();
        while let Some((token, line)) = self.next() {
            let line = format!("{}:{line}", self.file);
            match token {
                "::" => continue,
                "{" => {
                    while !["}", ""].contains(&self.peek(0)) {
                        self.read_imports(&path, module);
                    }
                    self.next();
                }
                "*" => module.paths.push((path, line)),
                name if is_word(name) => {
                    // In a list, it is the module of the list.
                    if name != "self" || path.is_empty() {
                        path.push(name.to_owned());
                    }
                    if self.peek(0) == "::" {
                        continue;
                    }
                    let mut name = path.last().cloned();
                    if self.peek(0) == "as" {
                        self.next();
                        name = self.next().map(|(name, _)| name.to_owned());
                    }
                    module.paths.push((path.clone(), line));
                    module.imports.extend(name.map(|name| (name, path)));
                }
                _ => (),
            }
            return;
        }
    }
}
