//! Expressions: their values, as far as they are known.

use std::rc::Rc;

use oxc_ast::ast::*;
use oxc_semantic::SymbolId;
use oxc_span::GetSpan;

use super::binding::set_field;
use super::module;
use super::reader::Reader;
use crate::arguments::Arguments;
use crate::constant;
use crate::reading::Reading;
use crate::scopes::Flow;
use crate::text::Text;
use crate::value::Value;

impl<'a> Reader<'a, '_> {
    /// Evaluates an expression and records its acts.
    pub fn eval(&mut self, expression: &'a Expression<'a>) -> Value {
        self.deeper(|reader| reader.eval_inside(expression))
            .unwrap_or(Value::Unknown)
    }

    fn eval_inside(&mut self, expression: &'a Expression<'a>) -> Value {
        match expression {
            Expression::BooleanLiteral(it) => Value::Truth(it.value),
            Expression::NullLiteral(_) => Value::Nothing,
            Expression::NumericLiteral(it) => number(it.value),
            Expression::StringLiteral(it) => it.value.as_str().into(),
            Expression::RegExpLiteral(it) => {
                Value::Instance("RegExp".into(), Some(it.regex.pattern.text.as_str().into()))
            }
            Expression::TemplateLiteral(it) => self.template(it),
            Expression::Identifier(name) => self.name(name),
            Expression::ThisExpression(_) => self.this(),
            Expression::ArrayExpression(it) => self.array(it),
            Expression::ObjectExpression(it) => self.object(it),
            Expression::FunctionExpression(it) => self.function(it, None),
            Expression::ArrowFunctionExpression(it) => self.arrow(it),
            Expression::ClassExpression(it) => self.class(it),
            Expression::AssignmentExpression(it) => self.assignment(it),
            Expression::AwaitExpression(it) => self.eval(&it.argument),
            Expression::BinaryExpression(it) => self.binary(it),
            Expression::LogicalExpression(it) => self.logical(it),
            Expression::ConditionalExpression(it) => self.conditional(it),
            Expression::UnaryExpression(it) => self.unary(it),
            Expression::UpdateExpression(it) => self.update(it),
            Expression::CallExpression(it) => self.call(it),
            Expression::NewExpression(it) => self.new_expression(it),
            Expression::ImportExpression(it) => self.import_expression(it),
            Expression::TaggedTemplateExpression(it) => self.tagged(it),
            Expression::ChainExpression(it) => self.chain(it),
            Expression::ImportMeta(_) => Value::Api("import.meta".into()),
            Expression::SequenceExpression(it) => {
                let mut last = Value::Nothing;
                for one in &it.expressions {
                    last = self.eval(one);
                }
                last
            }
            Expression::YieldExpression(it) => self.yielded(it),
            Expression::JSXElement(it) => self.jsx_element(it),
            Expression::JSXFragment(it) => self.jsx_children(&it.children),
            Expression::StaticMemberExpression(_)
            | Expression::ComputedMemberExpression(_)
            | Expression::PrivateFieldExpression(_) => expression
                .as_member_expression()
                .map_or(Value::Unknown, |member| self.member_value(member)),
            Expression::PrivateInExpression(it) => {
                self.eval(&it.right);
                Value::Unknown
            }
            other => match without_type(other) {
                Some(inner) => self.eval(inner),
                None => Value::Unknown,
            },
        }
    }

    /// The name's symbol, unless it is a global.
    pub fn symbol(&self, name: &IdentifierReference<'_>) -> Option<SymbolId> {
        let reference = name.reference_id.get()?;
        self.scoping.get_reference(reference).symbol_id()
    }

    fn name(&mut self, name: &IdentifierReference<'_>) -> Value {
        match self.symbol(name) {
            Some(symbol) => self.lookup(symbol),
            None => module::global(&name.name, self.setting),
        }
    }

    fn this(&self) -> Value {
        self.frames
            .last()
            .and_then(|frame| frame.this.clone())
            .unwrap_or(Value::Unknown)
    }

    /// A template's text.
    pub fn template(&mut self, it: &'a TemplateLiteral<'a>) -> Value {
        let piece = |quasi: &TemplateElement<'a>| -> Value {
            quasi
                .value
                .cooked
                .as_ref()
                .map_or(Value::Unknown, |text| text.as_str().into())
        };
        let mut all = it.quasis.first().map_or("".into(), piece);
        for (at, expression) in it.expressions.iter().enumerate() {
            let value = self.eval(expression);
            all = concatenated(&all, &value);
            if let Some(quasi) = it.quasis.get(at + 1) {
                all = concatenated(&all, &piece(quasi));
            }
        }
        all
    }

    fn array(&mut self, it: &'a ArrayExpression<'a>) -> Value {
        let mut all = Vec::new();
        let mut is_known = true;
        for element in &it.elements {
            match element {
                ArrayExpressionElement::SpreadElement(spread) => {
                    let spread = self.eval(&spread.argument);
                    match self.elements(&spread) {
                        Some(elements) => all.extend(elements),
                        None => is_known = false,
                    }
                }
                ArrayExpressionElement::Elision(_) => all.push(Value::Nothing),
                element => {
                    if let Some(element) = element.as_expression() {
                        let value = self.eval(element);
                        all.push(value);
                    }
                }
            }
        }
        if !is_known {
            all.push(Value::Unknown);
        }
        Value::List(Rc::new(all))
    }

    fn object(&mut self, it: &'a ObjectExpression<'a>) -> Value {
        let mut fields = Vec::new();
        for property in &it.properties {
            match property {
                ObjectPropertyKind::SpreadProperty(spread) => {
                    let value = self.eval(&spread.argument);
                    self.escape_environment(&value, spread.span);
                    for (name, value) in self.fields(&value) {
                        set_field(&mut fields, &name, value);
                    }
                }
                ObjectPropertyKind::ObjectProperty(property) => {
                    let name = self.key(&property.key);
                    let value = match (&property.value, property.kind) {
                        (Expression::FunctionExpression(getter), PropertyKind::Get) => {
                            let function = self.function(getter, None);
                            self.call_value(&function, None, &Arguments::none(), property.span)
                        }
                        (Expression::FunctionExpression(_), PropertyKind::Set) => continue,
                        (value, _) => self.eval(value),
                    };
                    match name {
                        Some(name) => set_field(&mut fields, &name, value),
                        None => fields.push(("*".into(), value)),
                    }
                }
            }
        }
        Value::Record(Rc::new(fields))
    }

    /// A property's name, where it is known.
    pub fn key(&mut self, key: &'a PropertyKey<'a>) -> Option<String> {
        match key {
            PropertyKey::StaticIdentifier(name) => Some(name.name.to_string()),
            PropertyKey::PrivateIdentifier(name) => Some(format!("#{}", name.name)),
            key => {
                let value = key.as_expression().map(|key| self.eval(key))?;
                value.text().exact().map(str::to_string)
            }
        }
    }

    fn chain(&mut self, it: &'a ChainExpression<'a>) -> Value {
        match &it.expression {
            ChainElement::CallExpression(call) => self.call(call),
            ChainElement::TSNonNullExpression(it) => self.eval(&it.expression),
            element => element
                .as_member_expression()
                .map_or(Value::Unknown, |member| self.member_value(member)),
        }
    }

    fn yielded(&mut self, it: &'a YieldExpression<'a>) -> Value {
        let value = it.argument.as_ref().map_or(Value::Nothing, |value| self.eval(value));
        let all = match it.delegate {
            true => self.elements(&value).unwrap_or(vec![Value::Unknown]),
            false => vec![value],
        };
        if let Some(frame) = self.frames.last_mut()
            && frame.yielded.len() < 256
        {
            frame.yielded.extend(all);
        }
        Value::Unknown
    }

    fn jsx_element(&mut self, it: &'a JSXElement<'a>) -> Value {
        if let JSXElementName::IdentifierReference(name) = &it.opening_element.name {
            let component = self.name(name);
            self.escape(&component, it.span);
        }
        for attribute in &it.opening_element.attributes {
            let value = match attribute {
                JSXAttributeItem::SpreadAttribute(spread) => self.eval(&spread.argument),
                JSXAttributeItem::Attribute(attribute) => match &attribute.value {
                    Some(JSXAttributeValue::ExpressionContainer(it)) => it
                        .expression
                        .as_expression()
                        .map_or(Value::Nothing, |value| self.eval(value)),
                    Some(JSXAttributeValue::Element(it)) => self.jsx_element(it),
                    Some(JSXAttributeValue::Fragment(it)) => self.jsx_children(&it.children),
                    _ => continue,
                },
            };
            self.escape(&value, it.span);
        }
        self.jsx_children(&it.children)
    }

    fn jsx_children(&mut self, children: &'a [JSXChild<'a>]) -> Value {
        for child in children {
            let inside = match child {
                JSXChild::Element(it) => {
                    self.deeper(|reader| reader.jsx_element(it));
                    continue;
                }
                JSXChild::Fragment(it) => {
                    self.deeper(|reader| reader.jsx_children(&it.children));
                    continue;
                }
                JSXChild::ExpressionContainer(it) => it.expression.as_expression(),
                JSXChild::Spread(it) => Some(&it.expression),
                _ => None,
            };
            if let Some(inside) = inside {
                let value = self.eval(inside);
                self.escape(&value, inside.span());
            }
        }
        Value::Unknown
    }

    fn conditional(&mut self, it: &'a ConditionalExpression<'a>) -> Value {
        let test = self.eval(&it.test);
        match self.certain(&it.test, &test) {
            Some(true) => self.eval(&it.consequent),
            Some(false) => self.eval(&it.alternate),
            None => {
                let one = self.maybe_eval(&it.consequent);
                let other = self.maybe_eval(&it.alternate);
                one.or(&other)
            }
        }
    }

    /// An expression that may not be evaluated.
    pub fn maybe_eval(&mut self, expression: &'a Expression<'a>) -> Value {
        let mut value = Value::Unknown;
        self.maybe(|reader| {
            value = reader.eval(expression);
            Flow::Next
        });
        value
    }
}

/// A whole number; others aren't kept.
fn number(value: f64) -> Value {
    match value.fract() == 0.0 && value.abs() < 9e15 {
        true => Value::Number(value as i64),
        false => Value::Text(value.to_string().into()),
    }
}

fn without_type<'b, 'a>(expression: &'b Expression<'a>) -> Option<&'b Expression<'a>> {
    Some(match expression {
        Expression::ParenthesizedExpression(it) => &it.expression,
        Expression::TSAsExpression(it) => &it.expression,
        Expression::TSSatisfiesExpression(it) => &it.expression,
        Expression::TSTypeAssertion(it) => &it.expression,
        Expression::TSNonNullExpression(it) => &it.expression,
        Expression::TSInstantiationExpression(it) => &it.expression,
        _ => return None,
    })
}

/// Concatenates two strings: each alternative of the first with each of the second.
pub fn concatenated(one: &Value, other: &Value) -> Value {
    let known = |value: &Value| value.something().unwrap_or(Value::Nothing);
    constant::concatenate(&known(one), &known(other), printed)
}

/// A value in a text.
pub fn printed(value: &Value) -> Text {
    match value {
        Value::Truth(truth) => truth.to_string().into(),
        Value::List(all) => constant::join(all, &",".into(), printed).text(),
        value => value.text(),
    }
}
