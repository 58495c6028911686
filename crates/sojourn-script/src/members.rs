//! What one file uses of the modules that it imports: names of theirs, as far as they can be seen
//! without running it. What a name is bound to is the parser's to say, so that a variable which
//! happens to be called like a module is none of its.

use std::collections::{BTreeSet, HashMap};

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, BindingPattern, CallExpression, ComputedMemberExpression, ExportAllDeclaration,
    ExportFromDeclaration, Expression, IdentifierReference, ImportDeclaration,
    ImportDeclarationSpecifier, ImportExpression, ImportOrExportKind, StaticMemberExpression,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{Parser, ParserReturn};
use oxc_semantic::{Scoping, SemanticBuilder, SymbolId};
use oxc_span::SourceType;

use crate::typescript::{diagnostic, is_typescript, with_stack};
use crate::uses::Use;

/// A name of a module, and a member of that: what is deeper is data of the script's.
const NAMES_MAX: usize = 2;
/// How often a file is gone through to follow what it calls modules and members by other names.
const ROUNDS_MAX: usize = 8;

/// What a file uses. The error says where it is no script.
pub(crate) fn of_text(address: &str, text: &str) -> Result<BTreeSet<Use>, String> {
    with_stack(text, || read(address, text))
}

fn read(address: &str, text: &str) -> Result<BTreeSet<Use>, String> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, address, text)?;
    let scoping = SemanticBuilder::new().build(&parsed.program).semantic.into_scoping();
    let is_typed = parsed.program.source_type.is_typescript();
    let mut finder = Finder { scoping, is_typed, bound: HashMap::new(), found: BTreeSet::new() };
    for _ in 0..ROUNDS_MAX {
        let known = finder.bound.len();
        finder.visit_program(&parsed.program);
        if finder.bound.len() == known {
            break;
        }
    }
    Ok(finder.found)
}

/// As JavaScript, or else as TypeScript, as scripts are when they are run.
fn parse<'a>(
    allocator: &'a Allocator,
    address: &str,
    text: &'a str,
) -> Result<ParserReturn<'a>, String> {
    if !is_typescript(address) {
        let parsed = Parser::new(allocator, text, SourceType::unambiguous()).parse();
        if parsed.diagnostics.is_empty() {
            return Ok(parsed);
        }
    }
    let parsed = Parser::new(allocator, text, SourceType::ts()).parse();
    match parsed.diagnostics.iter().next() {
        Some(first) => Err(diagnostic(first, text)),
        None => Ok(parsed),
    }
}

/// What an expression stands for: a module, or what is at these names within it.
#[derive(Clone)]
struct Place {
    module: String,
    names: Vec<String>,
}

impl Place {
    fn module(name: &str) -> Self {
        Self { module: name.to_owned(), names: Vec::new() }
    }

    /// A member of it. A module's default export is as good as the module.
    fn member(&self, name: &str) -> Self {
        let mut names = self.names.clone();
        if !(names.is_empty() && name == "default") {
            names.push(name.to_owned());
        }
        Self { module: self.module.clone(), names }
    }
}

struct Finder {
    scoping: Scoping,
    /// Whether what is imported and not used as a value is not imported at all.
    is_typed: bool,
    /// What variables stand for.
    bound: HashMap<SymbolId, Place>,
    found: BTreeSet<Use>,
}

impl Finder {
    fn add(&mut self, place: &Place) {
        let names = place.names.iter().take(NAMES_MAX).cloned().collect();
        self.found.insert(Use { module: place.module.clone(), names });
    }

    fn of_name(&self, name: &IdentifierReference<'_>) -> Option<&Place> {
        let reference = self.scoping.get_reference(name.reference_id.get()?);
        self.bound.get(&reference.symbol_id()?)
    }

    fn place(&self, expression: &Expression<'_>) -> Option<Place> {
        match expression.get_inner_expression() {
            Expression::Identifier(name) => self.of_name(name).cloned(),
            Expression::StaticMemberExpression(member) => self.of_static(member),
            Expression::ComputedMemberExpression(member) => self.of_computed(member),
            Expression::CallExpression(call) => self.of_require(call),
            Expression::AwaitExpression(awaited) => match &awaited.argument {
                Expression::ImportExpression(import) => imported(import),
                _ => None,
            },
            _ => None,
        }
    }

    fn of_static(&self, member: &StaticMemberExpression<'_>) -> Option<Place> {
        Some(self.place(&member.object)?.member(member.property.name.as_str()))
    }

    fn of_computed(&self, member: &ComputedMemberExpression<'_>) -> Option<Place> {
        match &member.expression {
            Expression::StringLiteral(name) => {
                Some(self.place(&member.object)?.member(name.value.as_str()))
            }
            _ => None,
        }
    }

    /// `require("…")`, unless the script has a `require` of its own.
    fn of_require(&self, call: &CallExpression<'_>) -> Option<Place> {
        let Expression::Identifier(callee) = &call.callee else { return None };
        let is_own = self.scoping.get_reference(callee.reference_id.get()?).symbol_id().is_some();
        match call.arguments.first() {
            Some(Argument::StringLiteral(name)) if callee.name == "require" && !is_own => {
                Some(Place::module(name.value.as_str()))
            }
            _ => None,
        }
    }

    /// A variable, or several by a pattern, become what is at a place.
    fn bind(&mut self, pattern: &BindingPattern<'_>, place: &Place) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => {
                // One that is assigned to later may be something else by then.
                if let Some(symbol) = name.symbol_id.get()
                    && !self.scoping.symbol_is_mutated(symbol)
                {
                    self.bound.insert(symbol, place.clone());
                }
            }
            BindingPattern::AssignmentPattern(with_default) => {
                self.bind(&with_default.left, place);
            }
            BindingPattern::ObjectPattern(pattern) => {
                for property in &pattern.properties {
                    if let Some(name) = property.key.static_name() {
                        let member = place.member(&name);
                        self.add(&member);
                        self.bind(&property.value, &member);
                    }
                }
            }
            BindingPattern::ArrayPattern(_) => {}
        }
    }

    /// Whether TypeScript would leave out the import of a name.
    fn is_type(&self, symbol: Option<SymbolId>) -> bool {
        let Some(symbol) = symbol.filter(|_| self.is_typed) else { return false };
        !self.scoping.get_resolved_references(symbol).any(oxc_semantic::Reference::is_value)
    }

    /// One name of an import; whether it is imported at all.
    fn import(&mut self, module: &Place, specifier: &ImportDeclarationSpecifier<'_>) -> bool {
        let (local, place) = match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(named) => {
                if named.import_kind == ImportOrExportKind::Type {
                    return false;
                }
                (&named.local, module.member(named.imported.name().as_str()))
            }
            ImportDeclarationSpecifier::ImportDefaultSpecifier(whole) => {
                (&whole.local, module.clone())
            }
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(whole) => {
                (&whole.local, module.clone())
            }
        };
        if self.is_type(local.symbol_id.get()) {
            return false;
        }
        self.add(&place);
        if let Some(symbol) = local.symbol_id.get() {
            self.bound.insert(symbol, place);
        }
        true
    }
}

/// `import("…")`.
fn imported(import: &ImportExpression<'_>) -> Option<Place> {
    match &import.source {
        Expression::StringLiteral(name) => Some(Place::module(name.value.as_str())),
        _ => None,
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        if import.import_kind == ImportOrExportKind::Type {
            return;
        }
        let module = Place::module(import.source.value.as_str());
        let specifiers = import.specifiers.as_ref().map(|list| &list[..]).unwrap_or_default();
        let mut is_needed = specifiers.is_empty();
        for specifier in specifiers {
            is_needed |= self.import(&module, specifier);
        }
        if is_needed {
            self.add(&module);
        }
    }

    fn visit_export_from_declaration(&mut self, export: &ExportFromDeclaration<'a>) {
        if export.export_kind == ImportOrExportKind::Type {
            return;
        }
        let module = Place::module(export.source.value.as_str());
        self.add(&module);
        for specifier in &export.specifiers {
            if specifier.export_kind == ImportOrExportKind::Value {
                self.add(&module.member(specifier.local.name().as_str()));
            }
        }
    }

    fn visit_export_all_declaration(&mut self, export: &ExportAllDeclaration<'a>) {
        if export.export_kind == ImportOrExportKind::Value {
            self.add(&Place::module(export.source.value.as_str()));
        }
    }

    fn visit_variable_declarator(&mut self, declared: &VariableDeclarator<'a>) {
        if let Some(place) = declared.init.as_ref().and_then(|value| self.place(value)) {
            self.bind(&declared.id, &place);
        }
        walk::walk_variable_declarator(self, declared);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if let Some(place) = self.of_require(call) {
            self.add(&place);
        }
        walk::walk_call_expression(self, call);
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        if let Some(place) = imported(import) {
            self.add(&place);
        }
        walk::walk_import_expression(self, import);
    }

    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        if let Some(place) = self.of_static(member) {
            self.add(&place);
        }
        walk::walk_static_member_expression(self, member);
    }

    fn visit_computed_member_expression(&mut self, member: &ComputedMemberExpression<'a>) {
        if let Some(place) = self.of_computed(member) {
            self.add(&place);
        }
        walk::walk_computed_member_expression(self, member);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn uses(address: &str, text: &str, expected: &[&str]) {
        let found: Vec<_> = of_text(address, text)
            .unwrap()
            .into_iter()
            .map(|used| [&[used.module], &used.names[..]].concat().join(" "))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn names_of_imported_modules_are_found() {
        uses(
            "s.ts",
            "
            import http, { get as fetch } from 'k6/http';
            import * as k6 from 'k6';
            import 'k6/timers';
            export { b64encode } from 'k6/encoding';
            const { Counter } = require('k6/metrics');
            const data: any = require('./data.js');
            export default async () => {
                fetch(); http.post('x'); (k6 as any).sleep(1); other.thing(); http['put']();
                require('k6/data').SharedArray; data.x;
                const { sha256 } = await import('k6/crypto');
            }",
            &[
                "./data.js",
                "./data.js x",
                "k6",
                "k6 sleep",
                "k6/crypto",
                "k6/crypto sha256",
                "k6/data",
                "k6/data SharedArray",
                "k6/encoding",
                "k6/encoding b64encode",
                "k6/http",
                "k6/http get",
                "k6/http post",
                "k6/http put",
                "k6/metrics",
                "k6/metrics Counter",
                "k6/timers",
            ],
        );
    }

    #[test]
    fn members_are_followed_by_whatever_name() {
        uses(
            "s.js",
            "
            export default () => { later.idInTest; tags.own = 1; alias.request(); vu.tags.own.x }
            import exec, { vu } from 'k6/execution';
            import http from 'k6/http';
            const { vu: later, test: { abort = 1, ...rest }, [computed]: gone } = exec;
            const tags = exec.vu.tags, alias = http;
            let changed = http; changed = {}; changed.notOfHttp();",
            &[
                "k6/execution",
                "k6/execution test",
                "k6/execution test abort",
                "k6/execution vu",
                "k6/execution vu idInTest",
                "k6/execution vu tags",
                "k6/http",
                "k6/http request",
            ],
        );
    }

    #[test]
    fn what_only_looks_like_a_module_is_none() {
        uses(
            "s.ts",
            "
            import http from 'k6/http';
            import type { Options } from 'k6/options';
            import { Other } from 'k6/never';
            export const options: Other = {};
            function of(http: any, require: any) { http.other(); require('k6/ws'); }
            http[computed](); http.get.name;",
            &["k6/http", "k6/http get", "k6/http get name"],
        );
        let problem = of_text("s.js", "import { from 'k6'").unwrap_err();
        assert!(problem.starts_with("line 1, column "), "{problem}");
    }
}
