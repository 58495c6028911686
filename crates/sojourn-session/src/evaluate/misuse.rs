//! Values that have none yet, used as if they had: found by reading the script.
//!
//! `if (session.getVar("x"))` is always true, since the script runs only once, and nothing in
//! JavaScript lets a value notice that it is asked. So conditions and comparisons are looked at in
//! the source: those on a call that gives such a value, or on a name that was declared as one. What
//! goes through other functions, fields or assignments is not followed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    BinaryExpression, BindingPattern, CallExpression, ConditionalExpression, DoWhileStatement,
    Expression, ForStatement, IfStatement, LogicalExpression, NewExpression, Program,
    SwitchStatement, UnaryExpression, VariableDeclarator, WhileStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_semantic::{Scoping, SemanticBuilder, SymbolId};
use oxc_span::{GetSpan, SourceType, Span};
use oxc_syntax::operator::{BinaryOperator, LogicalOperator, UnaryOperator};
use sojourn_plan::PlanError;
use sojourn_script::Bundle;
use url::Url;

use super::places::Places;
use crate::definition::Place;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Misused {
    pub(super) errors: Vec<PlanError>,
    pub(super) warnings: Vec<PlanError>,
}

/// Most findings of each kind.
const FOUND_MAX: usize = 100;

/// Looks through the script and all files that it imports, those of packages apart.
pub(super) fn find(bundle: &Bundle, entry_text: Option<&str>, places: &Places) -> Misused {
    let mut misused = Misused::default();
    for address in bundle.modules() {
        let is_entry = address == bundle.entry().as_str();
        let path = Url::parse(&address).ok().and_then(|url| url.to_file_path().ok());
        let text = match entry_text.filter(|_| is_entry) {
            Some(text) => Some(text.to_owned()),
            None => path.filter(|path| is_own(path)).and_then(|p| std::fs::read_to_string(p).ok()),
        };
        if let Some(text) = text {
            of_text(&places.file(&address), &text, &mut misused);
        }
    }
    misused
}

fn is_own(path: &Path) -> bool {
    let is_data = path.extension().is_some_and(|ending| ending == "json");
    !is_data && !path.components().any(|part| part.as_os_str() == "node_modules")
}

fn of_text(file: &Arc<str>, text: &str, misused: &mut Misused) {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::ts()).parse();
    if parsed.panicked {
        return;
    }
    let scoping = SemanticBuilder::new().build(&parsed.program).semantic.into_scoping();
    let mut names = Names { scoping: &scoping, known: HashMap::new() };
    names.visit_program(&parsed.program);
    let mut finder = Finder { names, file, text, misused };
    finder.look(&parsed.program);
}

/// What a name or an expression stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// A value that is known only while a client runs.
    Value,
    /// A picked row, whose fields are such values.
    Row,
}

/// Names that were declared as values or rows.
struct Names<'s> {
    scoping: &'s Scoping,
    known: HashMap<SymbolId, Meaning>,
}

impl Names<'_> {
    fn meaning(&self, expression: &Expression<'_>) -> Option<Meaning> {
        match expression {
            Expression::ParenthesizedExpression(inner) => self.meaning(&inner.expression),
            Expression::Identifier(name) => {
                let reference = self.scoping.get_reference(name.reference_id());
                self.known.get(&reference.symbol_id()?).copied()
            }
            Expression::CallExpression(call) => self.of_call(call),
            _ => None,
        }
    }

    fn of_call(&self, call: &CallExpression<'_>) -> Option<Meaning> {
        let Expression::StaticMemberExpression(callee) = &call.callee else { return None };
        match callee.property.name.as_str() {
            "getVar" | "matchedValue" | "lastHttpStatus" => Some(Meaning::Value),
            "generate" | "generateFrom" if is_data_sources(&callee.object) => Some(Meaning::Value),
            "pickFrom" => Some(Meaning::Row),
            "get" if self.meaning(&callee.object) == Some(Meaning::Row) => Some(Meaning::Value),
            _ => None,
        }
    }
}

/// `session.ds`, or a name that says so.
fn is_data_sources(expression: &Expression<'_>) -> bool {
    let name = match expression {
        Expression::StaticMemberExpression(member) => member.property.name.as_str(),
        Expression::Identifier(name) => name.name.as_str(),
        _ => "",
    };
    matches!(name, "ds" | "dataSources")
}

impl<'a> Visit<'a> for Names<'_> {
    fn visit_variable_declarator(&mut self, declared: &VariableDeclarator<'a>) {
        let meaning = declared.init.as_ref().and_then(|value| self.meaning(value));
        if let (Some(meaning), BindingPattern::BindingIdentifier(name)) = (meaning, &declared.id)
            && let Some(symbol) = name.symbol_id.get()
        {
            self.known.insert(symbol, meaning);
        }
        walk::walk_variable_declarator(self, declared);
    }
}

struct Finder<'s, 'm> {
    names: Names<'s>,
    file: &'s Arc<str>,
    text: &'s str,
    misused: &'m mut Misused,
}

impl Finder<'_, '_> {
    fn look(&mut self, program: &Program<'_>) {
        self.visit_program(program);
    }

    fn is_value(&self, expression: &Expression<'_>) -> bool {
        self.names.meaning(expression) == Some(Meaning::Value)
    }

    fn condition(&mut self, expression: &Expression<'_>) {
        if let Expression::LogicalExpression(both) = expression {
            // The left side is looked at where it stands.
            self.condition(&both.right);
        } else if self.is_value(expression) {
            self.refuse(expression.span(), "a condition");
        }
    }

    fn refuse(&mut self, span: Span, what: &str) {
        let message = format!("{what} on a value that is known only while a client runs");
        let hint = "the script runs only once: use session.if, session.while, session.times";
        let error = self.place(span).error(message, Some(hint.to_owned()));
        if self.misused.errors.len() < FOUND_MAX && !self.misused.errors.contains(&error) {
            self.misused.errors.push(error);
        }
    }

    fn warn(&mut self, span: Span, message: &str, hint: &str) {
        let warning = self.place(span).error(message, Some(hint.to_owned()));
        if self.misused.warnings.len() < FOUND_MAX {
            self.misused.warnings.push(warning);
        }
    }

    fn place(&self, span: Span) -> Place {
        let before = self.text.get(..span.start as usize).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        // Files are smaller than 4 GiB: spans are of 32 bits.
        Place { file: Arc::clone(self.file), line: line as u32, column: column as u32 }
    }
}

impl<'a> Visit<'a> for Finder<'_, '_> {
    fn visit_if_statement(&mut self, statement: &IfStatement<'a>) {
        self.condition(&statement.test);
        walk::walk_if_statement(self, statement);
    }

    fn visit_while_statement(&mut self, statement: &WhileStatement<'a>) {
        self.condition(&statement.test);
        walk::walk_while_statement(self, statement);
    }

    fn visit_do_while_statement(&mut self, statement: &DoWhileStatement<'a>) {
        self.condition(&statement.test);
        walk::walk_do_while_statement(self, statement);
    }

    fn visit_for_statement(&mut self, statement: &ForStatement<'a>) {
        if let Some(test) = &statement.test {
            self.condition(test);
        }
        walk::walk_for_statement(self, statement);
    }

    fn visit_conditional_expression(&mut self, expression: &ConditionalExpression<'a>) {
        self.condition(&expression.test);
        walk::walk_conditional_expression(self, expression);
    }

    fn visit_switch_statement(&mut self, statement: &SwitchStatement<'a>) {
        if self.is_value(&statement.discriminant) {
            self.refuse(statement.discriminant.span(), "a switch");
        }
        walk::walk_switch_statement(self, statement);
    }

    fn visit_logical_expression(&mut self, expression: &LogicalExpression<'a>) {
        if expression.operator != LogicalOperator::Coalesce {
            self.condition(&expression.left);
        }
        walk::walk_logical_expression(self, expression);
    }

    fn visit_unary_expression(&mut self, expression: &UnaryExpression<'a>) {
        if expression.operator == UnaryOperator::LogicalNot {
            self.condition(&expression.argument);
        }
        walk::walk_unary_expression(self, expression);
    }

    fn visit_binary_expression(&mut self, expression: &BinaryExpression<'a>) {
        let (left, right) = (&expression.left, &expression.right);
        if self.is_value(left) || self.is_value(right) {
            let is_number = |side: &Expression<'_>| matches!(side, Expression::NumericLiteral(_));
            if expression.operator.is_equality() || expression.operator.is_compare() {
                self.refuse(expression.span, "a comparison");
            } else if expression.operator == BinaryOperator::Addition {
                if is_number(left) || is_number(right) {
                    let message = "`+` joins a number to a value that is known only while a client \
                                   runs: it does not add";
                    self.warn(
                        expression.span,
                        message,
                        "put quotes around the number if joining is meant",
                    );
                }
            } else if expression.operator.is_arithmetic() {
                self.refuse(expression.span, "arithmetic");
            }
        }
        walk::walk_binary_expression(self, expression);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if let Expression::StaticMemberExpression(callee) = &call.callee
            && let Expression::Identifier(object) = &callee.object
        {
            let is_once = matches!(
                (object.name.as_str(), callee.property.name.as_str()),
                ("Math", "random") | ("Date", "now")
            );
            if is_once {
                self.warn(call.span, ONCE, ONCE_HINT);
            }
        }
        walk::walk_call_expression(self, call);
    }

    fn visit_new_expression(&mut self, made: &NewExpression<'a>) {
        if let Expression::Identifier(class) = &made.callee
            && class.name == "Date"
            && made.arguments.is_empty()
        {
            self.warn(made.span, ONCE, ONCE_HINT);
        }
        walk::walk_new_expression(self, made);
    }
}

const ONCE: &str = "this is evaluated once, so that all clients get the same value";
const ONCE_HINT: &str = "use session.ds.generate(\"random_number\", …) or \"timestamp\"";

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (Vec<String>, Vec<String>) {
        let mut misused = Misused::default();
        of_text(&"s.js".into(), text, &mut misused);
        let shown = |all: Vec<PlanError>| {
            let one =
                |error: PlanError| format!("{}:{} {}", error.line, error.column, error.message);
            all.into_iter().map(one).collect::<Vec<_>>()
        };
        (shown(misused.errors), shown(misused.warnings))
    }

    #[test]
    fn conditions_on_values_are_found() {
        for (text, place) in [
            ("if (session.getVar('x')) {}", "1:5"),
            ("const x = s.getVar('x');\nif (!x) {}", "2:6"),
            ("const r = s.ds.pickFrom(d);\nconst c = r.get('a');\nwhile (c) {}", "3:8"),
            ("s.ds.generate('random_number', {}) ? 1 : 2", "1:1"),
            ("let a = 1;\nfor (; s.lastHttpStatus() == 200; ) {}", "2:8"),
            ("if (a && s.getVar('b')) {}", "1:10"),
            ("s.getVar('b') || 'c'", "1:1"),
            ("switch (s.getVar('b')) {}", "1:9"),
            ("const n = s.getVar('n'); n * 2", "1:26"),
            ("1 < s.getVar('n')", "1:1"),
        ] {
            let (errors, _) = found(text);
            assert_eq!(errors.len(), 1, "{text}: {errors:?}");
            assert!(errors[0].starts_with(place), "{text}: {errors:?}");
        }
    }

    #[test]
    fn what_is_fine_is_not_found() {
        for text in [
            "const x = s.getVar('x'); { const x = 1; if (x) {} }",
            "const x = s.getVar('x'); s.if(x, '=', '1', () => {}); `/a/${x}` + x",
            "if (other.generate()) {}",
            "if (map.get('a')) {}",
            "s.getVar('a') ?? 'b'",
        ] {
            assert_eq!(found(text), (Vec::new(), Vec::new()), "{text}");
        }
        assert_eq!(found("const n = s.getVar('n') + 1").1.len(), 1);
        assert_eq!(found("Math.random(); Date.now(); new Date(); new Date(0)").1.len(), 3);
    }
}
