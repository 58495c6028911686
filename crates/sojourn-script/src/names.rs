//! What a module asks others for by name, and what names CommonJS gives, by reading only.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use oxc_ast::ast::{
    Argument, AssignmentExpression, AssignmentTarget, CallExpression, Expression, ObjectExpression,
    Program, StaticMemberExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_syntax::module_record::{ExportImportName, ImportImportName, ModuleRecord};

/// Names of one module.
pub(crate) type Names = BTreeSet<String>;

/// Most names of one module.
const NAMES_MAX: usize = 10_000;

/// What a module says about names.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) is_commonjs: bool,
    /// By what it imports from: names, and members of the whole.
    pub(crate) asked: BTreeMap<String, Asked>,
    /// Of CommonJS: names that it gives, as far as that can be seen without running it.
    pub(crate) given: Names,
}

/// What one module asks another for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// By name: what is not there is an error to the engine.
    pub(crate) named: Names,
    /// Members of the whole module.
    pub(crate) members: Names,
}

impl Reading {
    pub(crate) fn new(program: &Program<'_>, record: &ModuleRecord<'_>, is_commonjs: bool) -> Self {
        let mut finder = Finder::default();
        for entry in &record.import_entries {
            let from = entry.module_request.name.to_string();
            match &entry.import_name {
                ImportImportName::Name(name) => {
                    finder.asked.entry(from).or_default().named.insert(name.name.to_string());
                }
                ImportImportName::NamespaceObject => {
                    finder.wholes.insert(entry.local_name.name.to_string(), from);
                }
                ImportImportName::Default(_) => {}
            }
        }
        for entry in &record.indirect_export_entries {
            if let (Some(from), ExportImportName::Name(name)) =
                (&entry.module_request, &entry.import_name)
            {
                let asked = finder.asked.entry(from.name.to_string()).or_default();
                asked.named.insert(name.name.to_string());
            }
        }
        if is_commonjs || !finder.wholes.is_empty() {
            finder.visit_program(program);
        }
        Self { is_commonjs, asked: finder.asked, given: finder.given }
    }

    /// What the module asks what it calls `specifier` for.
    pub(crate) fn asked(&self, specifier: &str) -> Asked {
        self.asked.get(specifier).cloned().unwrap_or_default()
    }
}

#[derive(Default)]
struct Finder {
    /// Local names of whole modules.
    wholes: HashMap<String, String>,
    asked: BTreeMap<String, Asked>,
    given: Names,
}

impl Finder {
    fn give(&mut self, name: &str) {
        if self.given.len() < NAMES_MAX {
            self.given.insert(name.to_owned());
        }
    }

    fn give_all(&mut self, object: &ObjectExpression<'_>) {
        for property in &object.properties {
            let name = property.as_property().and_then(|property| property.key.static_name());
            if let Some(name) = name {
                self.give(&name);
            }
        }
    }
}

/// `exports` or `module.exports`.
fn is_exports(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::Identifier(name) => name.name == "exports",
        Expression::StaticMemberExpression(member) => is_module_exports(member),
        _ => false,
    }
}

fn is_module_exports(member: &StaticMemberExpression<'_>) -> bool {
    let is_module = matches!(&member.object, Expression::Identifier(name) if name.name == "module");
    is_module && member.property.name == "exports"
}

impl<'a> Visit<'a> for Finder {
    fn visit_assignment_expression(&mut self, assignment: &AssignmentExpression<'a>) {
        match &assignment.left {
            AssignmentTarget::StaticMemberExpression(member) if is_exports(&member.object) => {
                self.give(member.property.name.as_str());
            }
            AssignmentTarget::StaticMemberExpression(member) if is_module_exports(member) => {
                if let Expression::ObjectExpression(object) = &assignment.right {
                    self.give_all(object);
                }
            }
            AssignmentTarget::ComputedMemberExpression(member) if is_exports(&member.object) => {
                if let Expression::StringLiteral(name) = &member.expression {
                    self.give(name.value.as_str());
                }
            }
            _ => {}
        }
        walk::walk_assignment_expression(self, assignment);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        let is_define = matches!(&call.callee, Expression::StaticMemberExpression(member)
            if member.property.name == "defineProperty");
        if let [object, Argument::StringLiteral(name), _] = &call.arguments[..]
            && is_define
            && object.as_expression().is_some_and(is_exports)
        {
            self.give(name.value.as_str());
        }
        walk::walk_call_expression(self, call);
    }

    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        if let Expression::Identifier(object) = &member.object
            && let Some(from) = self.wholes.get(object.name.as_str())
        {
            let asked = self.asked.entry(from.clone()).or_default();
            asked.members.insert(member.property.name.to_string());
        }
        walk::walk_static_member_expression(self, member);
    }
}
