//! What a script uses of the modules that it imports, by reading it only.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, BindingPattern, CallExpression, Expression, StaticMemberExpression,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::SourceType;
use oxc_syntax::module_record::ImportImportName;
use url::Url;

use crate::resolve;

/// One name of a module, and the file that uses it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// As it is imported: `k6/http`, or an address.
    pub module: String,
    /// An export, or a property of the default export; `None` for the module alone.
    pub name: Option<String>,
}

/// Most files that are followed.
const FILES_MAX: usize = 10_000;

/// What the script in this file, and all files that it imports, use of modules that are no files.
/// The error names the file that can't be read or is no script.
pub fn uses(entry: &Path) -> Result<BTreeSet<Use>, String> {
    let path = entry.canonicalize().map_err(|error| format!("{}: {error}", entry.display()))?;
    let url = Url::from_file_path(path).map_err(|()| "not a path of a file".to_owned())?;
    let (mut found, mut seen, mut waiting) = (BTreeSet::new(), BTreeSet::new(), vec![url]);
    while let Some(url) = waiting.pop() {
        if !seen.insert(url.clone()) || seen.len() > FILES_MAX {
            continue;
        }
        let Ok(path) = url.to_file_path() else { continue };
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        if path.extension().is_some_and(|ending| ending == "json") {
            continue;
        }
        for used in of_text(&text) {
            let is_path = used.module.starts_with(['.', '/']) || used.module.starts_with("file:");
            match resolve::resolve(&url, &used.module, &Path::is_file) {
                Ok(next) if next.scheme() == "file" && (is_path || !is_builtin(&used.module)) => {
                    waiting.push(next);
                }
                _ => {
                    found.insert(used);
                }
            }
        }
    }
    Ok(found)
}

/// Names that are never looked for in `node_modules`.
fn is_builtin(module: &str) -> bool {
    module == "k6" || module.starts_with("k6/") || module == "sojourn"
}

/// What one file uses.
fn of_text(text: &str) -> BTreeSet<Use> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::ts()).parse();
    let mut members = Members::default();
    for entry in &parsed.module_record.import_entries {
        let module = entry.module_request.name.to_string();
        match &entry.import_name {
            ImportImportName::Name(name) => {
                members.add(&module, Some(name.name.as_str()));
            }
            ImportImportName::Default(_) | ImportImportName::NamespaceObject => {
                members.add(&module, None);
                members.locals.insert(entry.local_name.name.to_string(), module);
            }
        }
    }
    for module in parsed.module_record.requested_modules.keys() {
        members.add(module.as_str(), None);
    }
    members.visit_program(&parsed.program);
    members.found
}

/// Gathers properties of imported modules.
#[derive(Default)]
struct Members {
    /// Local names of whole modules.
    locals: HashMap<String, String>,
    found: BTreeSet<Use>,
}

impl Members {
    fn add(&mut self, module: &str, name: Option<&str>) {
        let name = name.map(str::to_owned).filter(|name| name != "default");
        self.found.insert(Use { module: module.to_owned(), name });
    }
}

/// `require("…")`.
fn required<'a>(expression: &Expression<'a>) -> Option<&'a str> {
    let Expression::CallExpression(call) = expression else { return None };
    of_call(call)
}

fn of_call<'a>(call: &CallExpression<'a>) -> Option<&'a str> {
    let Expression::Identifier(callee) = &call.callee else { return None };
    match call.arguments.first() {
        Some(Argument::StringLiteral(text)) if callee.name == "require" => {
            Some(text.value.as_str())
        }
        _ => None,
    }
}

impl<'a> Visit<'a> for Members {
    fn visit_variable_declarator(&mut self, declared: &VariableDeclarator<'a>) {
        if let Some(module) = declared.init.as_ref().and_then(required) {
            match &declared.id {
                BindingPattern::BindingIdentifier(local) => {
                    self.locals.insert(local.name.to_string(), module.to_owned());
                }
                BindingPattern::ObjectPattern(pattern) => {
                    for property in &pattern.properties {
                        let name = property.key.static_name();
                        self.add(module, name.as_deref());
                    }
                }
                _ => {}
            }
        }
        walk::walk_variable_declarator(self, declared);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if let Some(module) = of_call(call) {
            self.add(module, None);
        }
        walk::walk_call_expression(self, call);
    }

    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        if let Expression::Identifier(object) = &member.object
            && let Some(module) = self.locals.get(object.name.as_str()).cloned()
        {
            self.add(&module, Some(member.property.name.as_str()));
        }
        walk::walk_static_member_expression(self, member);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_imported_modules_are_found() {
        let text = "
            import http, { get as fetch } from 'k6/http';
            import * as k6 from 'k6';
            const { Counter } = require('k6/metrics');
            const data: any = require('./data.js');
            export default () => { http.post('x'); k6.sleep(1); other.thing() }";
        let found: Vec<_> = of_text(text)
            .into_iter()
            .map(|used| format!("{}:{}", used.module, used.name.unwrap_or_default()))
            .collect();
        let expected = [
            "./data.js:",
            "k6:",
            "k6:sleep",
            "k6/http:",
            "k6/http:get",
            "k6/http:post",
            "k6/metrics:",
            "k6/metrics:Counter",
        ];
        assert_eq!(found, expected);
    }
}
