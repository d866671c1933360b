//! Operators: texts put together, either of two values, what is certain of a condition.

use oxc_ast::ast::*;

use super::expression::concatenated;
use super::reader::Reader;
use crate::value::Value;

impl<'a> Reader<'a, '_> {
    /// A chain of operators, from its left end: `a + b + c` is as deep as it is long.
    pub fn binary(&mut self, it: &'a BinaryExpression<'a>) -> Value {
        let mut chain = vec![it];
        let mut first = &it.left;
        while let Expression::BinaryExpression(inner) = first {
            chain.push(inner);
            first = &inner.left;
        }
        let mut value = self.eval(first);
        while let Some(it) = chain.pop() {
            let right = self.eval(&it.right);
            value = operated(it.operator, &value, &right);
        }
        value
    }

    pub fn logical(&mut self, it: &'a LogicalExpression<'a>) -> Value {
        let left = self.eval(&it.left);
        let truth = truth(&left);
        match it.operator {
            LogicalOperator::And => match truth {
                Some(false) if self.is_constant(&it.left) => left,
                Some(true) => self.eval(&it.right),
                _ => self.maybe_eval(&it.right),
            },
            LogicalOperator::Or => match truth {
                Some(true) => left,
                Some(false) => self.eval(&it.right),
                None => {
                    let right = self.maybe_eval(&it.right);
                    right.beside(truthy(&left))
                }
            },
            LogicalOperator::Coalesce => match left.something() {
                None => self.eval(&it.right),
                Some(_) if is_present(&left) => left,
                Some(left) => {
                    let right = self.maybe_eval(&it.right);
                    left.or(&right)
                }
            },
        }
    }

    pub fn unary(&mut self, it: &'a UnaryExpression<'a>) -> Value {
        let value = self.eval(&it.argument);
        match (it.operator, &value) {
            (UnaryOperator::LogicalNot, value) => truth(value).map_or(Value::Unknown, |truth| Value::Truth(!truth)),
            (UnaryOperator::UnaryNegation, Value::Number(number)) => {
                number.checked_neg().map_or(Value::Unknown, Value::Number)
            }
            (UnaryOperator::UnaryPlus, Value::Number(number)) => Value::Number(*number),
            (UnaryOperator::Void, _) => Value::Nothing,
            _ => Value::Unknown,
        }
    }

    pub fn update(&mut self, it: &'a UpdateExpression<'a>) -> Value {
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(name) = &it.argument
            && let Some(symbol) = self.symbol(name)
        {
            self.assign(symbol, Value::Unknown);
        }
        Value::Unknown
    }

    pub fn assignment(&mut self, it: &'a AssignmentExpression<'a>) -> Value {
        let right = self.eval(&it.right);
        let value = match it.operator {
            AssignmentOperator::Assign => right,
            operator => {
                let left = self.target_value(&it.left);
                match operator {
                    AssignmentOperator::Addition => operated(BinaryOperator::Addition, &left, &right),
                    AssignmentOperator::LogicalOr | AssignmentOperator::LogicalNullish => {
                        right.beside(left.something())
                    }
                    AssignmentOperator::LogicalAnd => right,
                    _ => Value::Unknown,
                }
            }
        };
        self.assign_target(&it.left, value.clone());
        value
    }

    fn target_value(&mut self, target: &'a AssignmentTarget<'a>) -> Value {
        match target {
            AssignmentTarget::AssignmentTargetIdentifier(name) => {
                self.symbol(name).map_or(Value::Unknown, |symbol| self.lookup(symbol))
            }
            target => match target
                .as_simple_assignment_target()
                .and_then(|target| target.as_member_expression())
            {
                Some(member) => self.member_value(member),
                None => Value::Unknown,
            },
        }
    }

    /// Whether a condition holds, where that can't change: constants, names that are set once, `require.main === module`.
    pub fn certain(&self, test: &Expression<'_>, value: &Value) -> Option<bool> {
        let is_main = matches!(value, Value::Truth(true));
        match self.is_constant(test) {
            true => truth(value),
            false => is_main.then_some(true).filter(|_| is_main_test(test)),
        }
    }

    /// Whether an expression is of constants alone.
    pub fn is_constant(&self, expression: &Expression<'_>) -> bool {
        match expression.get_inner_expression() {
            Expression::BooleanLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::StringLiteral(_)
            | Expression::NullLiteral(_) => true,
            Expression::Identifier(name) => self
                .symbol(name)
                .is_some_and(|symbol| !self.scoping.symbol_is_mutated(symbol)),
            Expression::UnaryExpression(it) => {
                it.operator == UnaryOperator::LogicalNot && self.is_constant(&it.argument)
            }
            Expression::LogicalExpression(it) => self.is_constant(&it.left) && self.is_constant(&it.right),
            Expression::BinaryExpression(it) => {
                !matches!(it.left, Expression::BinaryExpression(_))
                    && self.is_constant(&it.left)
                    && self.is_constant(&it.right)
            }
            _ => false,
        }
    }
}

/// `require.main === module`, `import.meta.main`, also with more to it.
fn is_main_test(test: &Expression<'_>) -> bool {
    match test.get_inner_expression() {
        Expression::BinaryExpression(it) => it.operator.is_equality(),
        Expression::StaticMemberExpression(it) => it.property.name == "main",
        _ => false,
    }
}

fn operated(operator: BinaryOperator, left: &Value, right: &Value) -> Value {
    match (operator, left, right) {
        (BinaryOperator::Addition, Value::Number(left), Value::Number(right)) => {
            left.checked_add(*right).map_or(Value::Unknown, Value::Number)
        }
        (BinaryOperator::Addition, ..) => concatenated(left, right),
        (BinaryOperator::Subtraction, Value::Number(left), Value::Number(right)) => {
            left.checked_sub(*right).map_or(Value::Unknown, Value::Number)
        }
        (BinaryOperator::Multiplication, Value::Number(left), Value::Number(right)) => {
            left.checked_mul(*right).map_or(Value::Unknown, Value::Number)
        }
        (BinaryOperator::StrictEquality | BinaryOperator::Equality, ..) => {
            same(left, right).map_or(Value::Unknown, Value::Truth)
        }
        (BinaryOperator::StrictInequality | BinaryOperator::Inequality, ..) => {
            same(left, right).map_or(Value::Unknown, |same| Value::Truth(!same))
        }
        _ => Value::Unknown,
    }
}

fn same(left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Some(left.exact()? == right.exact()?),
        (Value::Number(left), Value::Number(right)) => Some(left == right),
        (Value::Truth(left), Value::Truth(right)) => Some(left == right),
        (Value::Nothing, Value::Nothing) => Some(true),
        (Value::Api(left), Value::Api(right)) => {
            let main = ["global.require.main", "global.module"];
            (main.contains(&&**left) && main.contains(&&**right)).then_some(true)
        }
        _ => None,
    }
}

/// Whether a value counts as true; of what an API gives it isn't known.
pub fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::List(_) | Value::Record(_) => Some(true),
        Value::Api(_) => None,
        value => value.truth(),
    }
}

fn truthy(value: &Value) -> Option<Value> {
    Value::any(
        value
            .alternatives()
            .into_iter()
            .filter(|value| truth(value) != Some(false)),
    )
}

/// Whether a value surely isn't undefined or null.
fn is_present(value: &Value) -> bool {
    let is_one = |value: &Value| !matches!(value, Value::Unknown | Value::Nothing | Value::Api(_));
    value.alternatives().iter().all(is_one)
}
