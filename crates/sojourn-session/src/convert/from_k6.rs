//! What of a k6 script would not compile into a session, and what to write instead.
//!
//! A session script runs once, before any client: values of answers are placeholders. So what a k6
//! script computes from answers, user by user, has to be said by steps. The script is read, not
//! run; what goes through functions of other files is not seen.

mod conditions;
mod words;

use std::collections::{HashMap, HashSet};

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, AwaitExpression,
    BindingPattern, CallExpression, ConditionalExpression, Declaration, ExportDeclaration,
    Expression, ForStatement, Function, IdentifierReference, IfStatement, ImportDeclaration,
    ImportDeclarationSpecifier, NewExpression, ObjectPropertyKind, StaticMemberExpression,
    SwitchStatement, TryStatement, VariableDeclarator, WhileStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_semantic::{Scoping, SemanticBuilder, SymbolId};
use oxc_span::{GetSpan, SourceType, Span};
use oxc_syntax::scope::ScopeFlags;
use sojourn_plan::PlanError;

use crate::definition::Place;

/// What stands in the way of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Obstacles {
    /// Each at its place, with what to write instead; in the file's order.
    pub list: Vec<PlanError>,
    /// Requests that a session could make as they are.
    pub requests: usize,
}

/// Most obstacles that are told.
const OBSTACLES_MAX: usize = 500;

/// Looks through a k6 script. Errs where it is no script.
pub fn k6_obstacles(file: &str, text: &str) -> Result<Obstacles, PlanError> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::ts()).parse();
    let mut finder = Finder {
        file: file.into(),
        text,
        scoping: SemanticBuilder::new().build(&parsed.program).semantic.into_scoping(),
        imported: HashMap::new(),
        answers: HashSet::new(),
        functions: 0,
        is_silent: false,
        found: Obstacles::default(),
    };
    if parsed.panicked {
        let error = parsed.diagnostics.iter().next();
        let error = error.map_or_else(String::new, |error| error.message.to_string());
        return Err(finder.place(Span::new(0, 0)).error(format!("no script: {error}"), None));
    }
    finder.visit_program(&parsed.program);
    finder.found.list.sort_by_key(|it| (it.line, it.column));
    Ok(finder.found)
}

struct Finder<'t> {
    file: std::sync::Arc<str>,
    text: &'t str,
    scoping: Scoping,
    /// Names of modules and what was imported of them; `*` for all.
    imported: HashMap<SymbolId, (String, String)>,
    /// Names of answers.
    answers: HashSet<SymbolId>,
    /// Functions around the present place.
    functions: u32,
    /// Within something that was told as a whole.
    is_silent: bool,
    found: Obstacles,
}

impl Finder<'_> {
    fn place(&self, span: Span) -> Place {
        let before = self.text.get(..span.start as usize).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        // Files are smaller than 4 GiB: spans are of 32 bits.
        Place { file: self.file.clone(), line: line as u32, column: column as u32 }
    }

    fn tell(&mut self, span: Span, what: impl Into<String>, instead: &str) {
        let error = self.place(span).error(what, Some(instead.to_owned()));
        let list = &mut self.found.list;
        if !self.is_silent && list.len() < OBSTACLES_MAX && !list.contains(&error) {
            list.push(error);
        }
    }

    /// The same of what is looked at no further.
    fn silently(&mut self, look: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_silent, true);
        look(self);
        self.is_silent = before;
    }

    fn symbol(&self, name: &IdentifierReference<'_>) -> Option<SymbolId> {
        self.scoping.get_reference(name.reference_id.get()?).symbol_id()
    }

    /// Module and name that a name was imported as.
    fn import(&self, expression: &Expression<'_>) -> Option<(&str, &str)> {
        let Expression::Identifier(name) = expression else { return None };
        let (module, name) = self.imported.get(&self.symbol(name)?)?;
        Some((module, name))
    }

    /// What is called: `("k6", "sleep")`, `("k6/http", "get")`.
    fn called<'e>(&'e self, callee: &'e Expression<'_>) -> Option<(&'e str, &'e str)> {
        match callee {
            Expression::StaticMemberExpression(member) => {
                let (module, name) = self.import(&member.object)?;
                (name == "*").then_some((module, member.property.name.as_str()))
            }
            other => self.import(other),
        }
    }

    fn is_request(&self, expression: &Expression<'_>) -> bool {
        match expression {
            Expression::CallExpression(call) => {
                matches!(self.called(&call.callee), Some(("k6/http", _)))
            }
            Expression::AwaitExpression(awaited) => self.is_request(&awaited.argument),
            _ => false,
        }
    }

    fn is_answer(&self, expression: &Expression<'_>) -> bool {
        match expression {
            Expression::Identifier(name) => {
                self.symbol(name).is_some_and(|symbol| self.answers.contains(&symbol))
            }
            other => self.is_request(other),
        }
    }

    fn source(&self, span: Span) -> String {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(60) {
            Some((at, _)) => format!("{}…", &line[..at]),
            None => line,
        }
    }

    fn condition(&mut self, what: &str, test: &Expression<'_>) {
        let mut look = Mentions { finder: self, found: false };
        look.visit_expression(test);
        if look.found {
            let message = format!("{what} on what an answer says: `{}`", self.source(test.span()));
            self.tell(test.span(), message, words::CONDITION);
        }
    }

    /// A test that was told as a whole is not told again piece by piece.
    fn test<'a>(&mut self, what: &str, test: &Expression<'a>) {
        self.condition(what, test);
        self.silently(|finder| finder.visit_expression(test));
    }
}

/// Whether an expression looks at an answer.
struct Mentions<'f, 't> {
    finder: &'f Finder<'t>,
    found: bool,
}

impl<'a> Visit<'a> for Mentions<'_, '_> {
    fn visit_expression(&mut self, expression: &Expression<'a>) {
        self.found |= self.finder.is_answer(expression);
        walk::walk_expression(self, expression);
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        let module = import.source.value.to_string();
        if let Some(instead) = words::of_module(&module) {
            self.tell(import.span, format!("the module `{module}`"), instead);
        }
        for specifier in import.specifiers.iter().flatten() {
            let (local, name) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(it) => {
                    (&it.local, it.imported.name().to_string())
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => {
                    (&it.local, "*".to_owned())
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => {
                    (&it.local, "*".to_owned())
                }
            };
            if let Some(symbol) = local.symbol_id.get() {
                self.imported.insert(symbol, (module.clone(), name));
            }
        }
    }

    fn visit_export_declaration(&mut self, export: &ExportDeclaration<'a>) {
        match &export.declaration {
            Declaration::FunctionDeclaration(function) => {
                let name = function.id.as_ref().map_or("", |id| id.name.as_str());
                let instead = words::of_function(name);
                self.tell(function.span, format!("the exported function `{name}`"), instead);
            }
            Declaration::VariableDeclaration(declared) => {
                for declarator in &declared.declarations {
                    self.options(declarator);
                }
            }
            _ => {}
        }
        walk::walk_export_declaration(self, export);
    }

    fn visit_variable_declarator(&mut self, declared: &VariableDeclarator<'a>) {
        if let (Some(value), BindingPattern::BindingIdentifier(name)) =
            (&declared.init, &declared.id)
            && self.is_request(value)
            && let Some(symbol) = name.symbol_id.get()
        {
            self.answers.insert(symbol);
        }
        walk::walk_variable_declarator(self, declared);
    }

    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        if function.r#async {
            self.tell(function.span, "an async function", words::ASYNC);
        }
        self.functions += 1;
        walk::walk_function(self, function, flags);
        self.functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        if arrow.r#async {
            self.tell(arrow.span, "an async function", words::ASYNC);
        }
        self.functions += 1;
        walk::walk_arrow_function_expression(self, arrow);
        self.functions -= 1;
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if !self.call(call) {
            walk::walk_call_expression(self, call);
        }
    }

    fn visit_new_expression(&mut self, made: &NewExpression<'a>) {
        let name = self.source(made.callee.span());
        let instead = match self.called(&made.callee) {
            Some(("k6/metrics", _)) => Some(words::METRIC),
            Some(("k6/data", _)) => Some(words::DATA),
            _ if name == "Date" && made.arguments.is_empty() => Some(words::ONCE),
            _ => None,
        };
        if let Some(instead) = instead {
            self.tell(made.span, format!("`new {name}`"), instead);
        }
        walk::walk_new_expression(self, made);
    }

    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        if self.is_answer(&member.object) {
            let what = format!("`{}` of an answer", member.property.name);
            self.tell(member.span, what, words::of_answer(&member.property.name));
            self.silently(|finder| finder.visit_expression(&member.object));
            return;
        }
        if let Expression::Identifier(object) = &member.object
            && object.name == "__ENV"
        {
            let name = &member.property.name;
            self.tell(member.span, format!("the environment variable `{name}`"), words::ENV);
            return;
        }
        walk::walk_static_member_expression(self, member);
    }

    fn visit_identifier_reference(&mut self, name: &IdentifierReference<'a>) {
        if matches!(name.name.as_str(), "__VU" | "__ITER" | "__ENV") {
            self.tell(name.span, format!("`{}`", name.name), words::of_global(&name.name));
        }
    }

    fn visit_if_statement(&mut self, statement: &IfStatement<'a>) {
        self.test("a condition", &statement.test);
        self.visit_statement(&statement.consequent);
        if let Some(otherwise) = &statement.alternate {
            self.visit_statement(otherwise);
        }
    }

    fn visit_while_statement(&mut self, statement: &WhileStatement<'a>) {
        self.test("a loop", &statement.test);
        self.visit_statement(&statement.body);
    }

    fn visit_for_statement(&mut self, statement: &ForStatement<'a>) {
        if let Some(test) = &statement.test {
            self.condition("a loop", test);
        }
        walk::walk_for_statement(self, statement);
    }

    fn visit_conditional_expression(&mut self, expression: &ConditionalExpression<'a>) {
        self.test("a condition", &expression.test);
        self.visit_expression(&expression.consequent);
        self.visit_expression(&expression.alternate);
    }

    fn visit_switch_statement(&mut self, statement: &SwitchStatement<'a>) {
        self.condition("a switch", &statement.discriminant);
        walk::walk_switch_statement(self, statement);
    }

    fn visit_try_statement(&mut self, statement: &TryStatement<'a>) {
        self.tell(statement.span, "`try` around steps", words::TRY);
        walk::walk_try_statement(self, statement);
    }

    fn visit_await_expression(&mut self, awaited: &AwaitExpression<'a>) {
        self.tell(awaited.span, "`await`", words::ASYNC);
        walk::walk_await_expression(self, awaited);
    }

    fn visit_assignment_expression(&mut self, assignment: &AssignmentExpression<'a>) {
        if let AssignmentTarget::AssignmentTargetIdentifier(name) = &assignment.left {
            let symbol = self.symbol(name);
            if let Some(symbol) = symbol.filter(|_| self.is_answer(&assignment.right)) {
                self.answers.insert(symbol);
            }
            let is_global = symbol.is_some_and(|symbol| {
                self.scoping.symbol_scope_id(symbol) == self.scoping.root_scope_id()
            });
            if is_global && self.functions > 0 {
                let what = format!("`{}`, kept from one iteration to the next", name.name);
                self.tell(assignment.span, what, words::STATE);
            }
        }
        walk::walk_assignment_expression(self, assignment);
    }
}

impl Finder<'_> {
    /// A call; true where its arguments have been looked at.
    fn call<'a>(&mut self, call: &CallExpression<'a>) -> bool {
        let shown = self.source(call.callee.span());
        let called = self.called(&call.callee);
        let called = called.map(|(module, name)| (module.to_owned(), name.to_owned()));
        let called = called.as_ref().map(|(module, name)| (module.as_str(), name.as_str()));
        match called {
            Some(("k6", "check")) => {
                self.check(call);
                return true;
            }
            Some(("k6", "sleep")) => {
                let has_draw = call
                    .arguments
                    .iter()
                    .any(|argument| self.source(argument.span()).contains("Math.random"));
                if has_draw {
                    self.tell(call.span, "`sleep` of a random time", words::SLEEP);
                    return true;
                }
            }
            Some(("k6", name)) => {
                if let Some(instead) = words::of_k6(name) {
                    self.tell(call.span, format!("`{name}()`"), instead);
                }
            }
            Some(("k6/http", name)) => match words::of_http(name) {
                Some(instead) => self.tell(call.span, format!("`{shown}()`"), instead),
                None => self.found.requests += 1,
            },
            _ => {
                if let Some(instead) = words::of_call(&shown) {
                    self.tell(call.span, format!("`{shown}()`"), instead);
                }
            }
        }
        false
    }

    /// The fields of `options`.
    fn options(&mut self, declared: &VariableDeclarator<'_>) {
        let BindingPattern::BindingIdentifier(name) = &declared.id else { return };
        let Some(Expression::ObjectExpression(options)) = &declared.init else { return };
        if name.name != "options" {
            return;
        }
        for property in &options.properties {
            let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
            let key = property.key.static_name().unwrap_or_default();
            let instead = words::of_option(&key);
            self.tell(property.span, format!("the option `{key}`"), instead);
        }
    }

    /// Conditions that a session could state are fine; others are told, each.
    fn check(&mut self, call: &CallExpression<'_>) {
        if let Some(Argument::ObjectExpression(checks)) = call.arguments.get(1) {
            for property in &checks.properties {
                let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
                if !conditions::is_simple(&property.value) {
                    let what = format!("the check `{}`", self.source(property.key.span()));
                    self.tell(property.span, what, words::CHECK);
                }
            }
        } else {
            self.tell(call.span, "checks that are not written where they are made", words::CHECK);
        }
        if let Some(answer) = call.arguments.first().and_then(Argument::as_expression) {
            match self.is_request(answer) {
                true => self.visit_expression(answer),
                false => self.silently(|finder| finder.visit_expression(answer)),
            }
        }
    }
}
