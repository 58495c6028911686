//! Conditions of checks that `session.check` can state.

use oxc_ast::ast::{ArrowFunctionBody, BindingPattern, Expression, Statement};

/// Whether a check's function compares the answer's status with a fixed value: all that needs no
/// value to be taken out of the answer.
pub(super) fn is_simple(function: &Expression<'_>) -> bool {
    let Expression::ArrowFunctionExpression(arrow) = function else { return false };
    let [only] = arrow.params.items.as_slice() else { return false };
    let BindingPattern::BindingIdentifier(answer) = &only.pattern else { return false };
    let compared = match (&arrow.body, arrow.body.as_expression()) {
        (_, Some(value)) => value,
        (ArrowFunctionBody::FunctionBody(body), None) => match body.statements.as_slice() {
            [Statement::ReturnStatement(returned)] => match &returned.argument {
                Some(value) => value,
                None => return false,
            },
            _ => return false,
        },
        _ => return false,
    };
    let Expression::BinaryExpression(compared) = compared else { return false };
    let is_compared = compared.operator.is_equality() || compared.operator.is_compare();
    let of_answer = |side: &Expression<'_>| match side {
        Expression::StaticMemberExpression(member) => {
            let is_answer =
                matches!(&member.object, Expression::Identifier(it) if it.name == answer.name);
            is_answer && member.property.name == "status"
        }
        _ => false,
    };
    let is_fixed = |side: &Expression<'_>| {
        matches!(side, Expression::NumericLiteral(_) | Expression::StringLiteral(_))
    };
    let (left, right) = (&compared.left, &compared.right);
    is_compared && (of_answer(left) && is_fixed(right) || of_answer(right) && is_fixed(left))
}
