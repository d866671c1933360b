//! Operators, and tests that constants decide.

use std::rc::Rc;

use ruff_python_ast::{BoolOp, CmpOp, Expr, ExprBoolOp, ExprCompare, Operator, UnaryOp};

use super::super::constant;
use super::super::reading::Reading;
use super::super::value::Value;
use super::environment::ENVIRONMENT;
use super::fold;
use super::own::Own;
use super::reader::Reader;

impl<'a> Reader<'a, '_> {
    /// `left op right`, for each alternative of both.
    pub fn operate(&mut self, left: &Value, op: Operator, right: &Value) -> Value {
        if self.is_iterable(left) || self.is_iterable(right) {
            return match (op, left) {
                (Operator::Add, Value::List(all)) => {
                    let more = self.any_element(right);
                    Value::List(Rc::new(all.iter().cloned().chain([more]).collect()))
                }
                (Operator::Add | Operator::BitOr | Operator::BitXor, _) => {
                    let either = self.any_element(left).or(&self.any_element(right));
                    self.iterable(either)
                }
                (Operator::Sub | Operator::BitAnd, left) => left.clone(),
                _ => Value::Unknown,
            };
        }
        let value = left.each_with(right, |left, right| match (op, left, right) {
            (Operator::Add, Value::List(one), Value::List(other)) => {
                Value::List(Rc::new(one.iter().chain(other.iter()).cloned().collect()))
            }
            // The unknown part of a list may be anything, the known part stays: `["git"] + arguments`.
            (Operator::Add, Value::List(one), Value::Unknown) => {
                Value::List(Rc::new(one.iter().cloned().chain([Value::Unknown]).collect()))
            }
            (Operator::Add, Value::Number(one), Value::Number(other)) => {
                one.checked_add(*other).map_or(Value::Unknown, Value::Number)
            }
            (Operator::Sub, Value::Number(one), Value::Number(other)) => {
                one.checked_sub(*other).map_or(Value::Unknown, Value::Number)
            }
            (Operator::Add, Value::Text(_), _) | (Operator::Add, _, Value::Text(_)) => fold::concatenate(left, right),
            (Operator::Mod, Value::Text(format), values) => fold::percent(format, values),
            (Operator::Div, Value::Instance(class, _), other) | (Operator::Div, other, Value::Instance(class, _))
                if &**class == fold::PATH && !matches!(other, Value::Number(_)) =>
            {
                Value::Instance(class.clone(), Some(left.text().joined(&right.text())))
            }
            (Operator::Mult, Value::Text(text), Value::Number(times)) => constant::repeated(text, *times),
            (Operator::BitOr, Value::Record(one), Value::Record(other)) => {
                Value::Record(Rc::new(one.iter().chain(other.iter()).cloned().collect()))
            }
            _ => Value::Unknown,
        });
        self.work().made(value)
    }

    /// `a or b`, `a and b`.
    pub fn any_of(&mut self, all: &'a ExprBoolOp) -> Value {
        let mut result: Option<Value> = None;
        for (index, operand) in all.values.iter().enumerate() {
            let value = self.value(operand);
            if index > 0 {
                // This operand may not have been evaluated: `path or sys.exit()`.
                self.has_left = false;
            }
            let is_last = index + 1 == all.values.len();
            let mut kept: Vec<Value> = value.alternatives();
            let ends = all.op == BoolOp::Or;
            if !is_last {
                kept.retain(|value| self.truth_of(value) != Some(!ends));
            }
            result = Value::any(result.into_iter().chain(kept));
            if !is_last
                && value
                    .alternatives()
                    .iter()
                    .all(|value| self.truth_of(value) == Some(ends))
            {
                break;
            }
        }
        result.unwrap_or(Value::Unknown)
    }

    /// Whether a test holds, if known; calls in it are read.
    pub fn truth(&mut self, test: &'a Expr) -> Option<bool> {
        match test {
            Expr::Name(name) if name.id.as_str() == "TYPE_CHECKING" => Some(false),
            Expr::Attribute(attribute) if attribute.attr.as_str() == "TYPE_CHECKING" => Some(false),
            Expr::UnaryOp(not) => match not.op {
                UnaryOp::Not => self.deeper(|reader| reader.truth(&not.operand))?.map(|truth| !truth),
                _ => {
                    self.value(&not.operand);
                    None
                }
            },
            Expr::Compare(compare) => self.compared(compare),
            test => {
                let value = self.value(test);
                let mut truths = value.alternatives().into_iter().map(|value| self.truth_of(&value));
                let first = truths.next()??;
                truths.all(|truth| truth == Some(first)).then_some(first)
            }
        }
    }

    /// Whether a value counts as true: a list or dictionary of unknown length may be empty.
    fn truth_of(&self, value: &Value) -> Option<bool> {
        match value {
            Value::Instance(class, _) if ["collections.", "xml."].iter().any(|start| class.starts_with(start)) => None,
            Value::Own(number) => match self.own.get(*number)? {
                Own::Iterable { .. } | Own::Mapping { .. } => None,
                Own::Object { class, .. }
                    if ["__bool__", "__len__"]
                        .iter()
                        .any(|name| self.member(*class, name).is_some()) =>
                {
                    None
                }
                _ => Some(true),
            },
            value => value.truth(),
        }
    }

    fn compared(&mut self, compare: &'a ExprCompare) -> Option<bool> {
        if let ([CmpOp::In | CmpOp::NotIn], [right]) = (&compare.ops[..], &compare.comparators[..])
            && self.is_environment(right)
        {
            let name = self.value(&compare.left).text();
            self.variable(&name, ENVIRONMENT, &ruff_text_size::Ranged::range(right).to_std_range());
            return None;
        }
        let left = self.value(&compare.left);
        let rights: Vec<Value> = compare.comparators.iter().map(|right| self.value(right)).collect();
        let ([op], [right]) = (&compare.ops[..], &rights[..]) else {
            return None;
        };
        match (op, &left, right) {
            (_, Value::Unknown | Value::OneOf(_), _) | (_, _, Value::Unknown | Value::OneOf(_)) => None,
            (CmpOp::Is | CmpOp::Eq, left, Value::Nothing) => Some(*left == Value::Nothing),
            (CmpOp::IsNot | CmpOp::NotEq, left, Value::Nothing) => Some(*left != Value::Nothing),
            (op, Value::Number(left), Value::Number(right)) => match op {
                CmpOp::Eq => Some(left == right),
                CmpOp::NotEq => Some(left != right),
                CmpOp::Lt => Some(left < right),
                CmpOp::LtE => Some(left <= right),
                CmpOp::Gt => Some(left > right),
                CmpOp::GtE => Some(left >= right),
                _ => None,
            },
            (op, Value::Text(left), Value::Text(right)) => match (op, left.exact()?, right.exact()?) {
                (CmpOp::Eq, left, right) => Some(left == right),
                (CmpOp::NotEq, left, right) => Some(left != right),
                (CmpOp::In, left, right) => Some(right.contains(left)),
                (CmpOp::NotIn, left, right) => Some(!right.contains(left)),
                _ => None,
            },
            _ => None,
        }
    }
}
