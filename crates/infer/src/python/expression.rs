//! Expressions and their partially known values.

use std::rc::Rc;

use ruff_python_ast::{Comprehension, Expr, ExprFString, InterpolatedStringElement, Number};
use ruff_text_size::Ranged;

use super::super::reading::Reading;
use super::super::text::Text;
use super::super::value::Value;
use super::environment::ENVIRONMENT;
use super::fold;
use super::own::{Body, Own};
use super::reader::Reader;

/// Maximum elements of a literal read one by one; of a longer one, only those that aren't constant.
const MAX_LITERAL: usize = 1024;

impl<'a> Reader<'a, '_> {
    /// The value of an expression. A function here is referenced, not called.
    pub fn value(&mut self, expression: &'a Expr) -> Value {
        let value = self.callee(expression);
        if matches!(
            expression,
            Expr::Name(_) | Expr::Attribute(_) | Expr::Lambda(_) | Expr::Subscript(_)
        ) {
            self.refer(&value);
            if matches!(&value, Value::Api(name) if &**name == ENVIRONMENT) {
                self.variable(&Text::unknown(), ENVIRONMENT, &expression.range().to_std_range());
            }
        }
        value
    }

    /// The value of an expression that is about to be called.
    pub fn callee(&mut self, expression: &'a Expr) -> Value {
        match self
            .deeper(|reader| reader.evaluate(expression))
            .unwrap_or(Value::Unknown)
        {
            value @ (Value::Text(_) | Value::List(_) | Value::Record(_) | Value::Instance(_, Some(_))) => {
                self.work().made(value)
            }
            value => value,
        }
    }

    fn evaluate(&mut self, expression: &'a Expr) -> Value {
        match expression {
            Expr::StringLiteral(text) => text.value.to_str().into(),
            Expr::BytesLiteral(bytes) => {
                let bytes: Vec<u8> = bytes.value.bytes().collect();
                String::from_utf8(bytes).map_or(Value::Unknown, |text| Value::Text(text.into()))
            }
            Expr::NumberLiteral(number) => match &number.value {
                Number::Int(number) => number.as_i64().map_or(Value::Unknown, Value::Number),
                _ => Value::Unknown,
            },
            Expr::BooleanLiteral(truth) => Value::Truth(truth.value),
            Expr::NoneLiteral(_) => Value::Nothing,
            Expr::FString(text) => self.formatted(text),
            Expr::Name(name) => self.named(&name.id),
            Expr::Attribute(attribute) => {
                let object = self.callee(&attribute.value);
                self.attribute_of(&object, &attribute.attr, expression.range().to_std_range())
            }
            Expr::Call(call) => self.call(call),
            Expr::Subscript(subscript) => self.subscript(subscript),
            Expr::BinOp(binary) => {
                let left = self.value(&binary.left);
                let right = self.value(&binary.right);
                self.operate(&left, binary.op, &right)
            }
            Expr::BoolOp(all) => self.any_of(all),
            Expr::UnaryOp(_) | Expr::Compare(_) => match self.truth(expression) {
                Some(truth) => Value::Truth(truth),
                None => fold::negative(expression),
            },
            Expr::If(choice) => match self.truth(&choice.test) {
                Some(true) => self.value(&choice.body),
                Some(false) => self.value(&choice.orelse),
                None => {
                    let one = self.value(&choice.body);
                    let other = self.value(&choice.orelse);
                    self.has_left = false;
                    one.or(&other)
                }
            },
            Expr::Named(named) => {
                let value = self.value(&named.value);
                self.assign(&named.target, value.clone());
                value
            }
            Expr::List(list) => self.listed(&list.elts),
            Expr::Tuple(list) => self.listed(&list.elts),
            Expr::Set(list) => self.listed(&list.elts),
            Expr::Dict(dict) => self.record(dict),
            other => self.evaluate_rest(other),
        }
    }

    fn evaluate_rest(&mut self, expression: &'a Expr) -> Value {
        match expression {
            Expr::ListComp(all) => self.comprehension(&all.generators, &all.elt, None),
            Expr::SetComp(all) => self.comprehension(&all.generators, &all.elt, None),
            Expr::Generator(all) => self.comprehension(&all.generators, &all.elt, None),
            Expr::DictComp(all) => self.comprehension(&all.generators, &all.value, all.key.as_deref()),
            Expr::Lambda(lambda) => self.lambda(lambda.parameters.as_deref(), Body::Expression(&lambda.body)),
            Expr::Await(inner) => self.value(&inner.value),
            Expr::Yield(inner) => {
                let value = inner.value.as_deref().map_or(Value::Nothing, |value| self.value(value));
                self.give(&value);
                Value::Unknown
            }
            Expr::YieldFrom(inner) => {
                let value = self.value(&inner.value);
                match self.elements(&value) {
                    Ok(elements) => elements.iter().for_each(|element| self.give(element)),
                    Err(element) => self.give(&element),
                }
                Value::Unknown
            }
            Expr::Starred(star) => self.value(&star.value),
            Expr::Slice(slice) => {
                for bound in [&slice.lower, &slice.upper, &slice.step].into_iter().flatten() {
                    self.value(bound);
                }
                Value::Unknown
            }
            Expr::TString(text) => {
                for element in text.value.elements() {
                    if let InterpolatedStringElement::Interpolation(inner) = element {
                        self.value(&inner.expression);
                    }
                }
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    fn give(&mut self, value: &Value) {
        let frame = self.frame();
        // A consumer of the yielded values ignores `Nothing`.
        frame.yielded = Some(match frame.yielded.take() {
            None | Some(Value::Nothing) => value.clone(),
            Some(before) if *value == Value::Nothing => before,
            Some(before) => before.or(value),
        });
    }

    /// Looks up a name; a builtin if the script doesn't define it.
    fn named(&mut self, name: &str) -> Value {
        let scope = self.scope();
        if let Some(value) = self.scopes.find(scope, name) {
            return value.clone();
        }
        match name {
            "__name__" => "__main__".into(),
            "__file__" => Value::Text(self.setting.script_path().into()),
            "__debug__" => Value::Truth(true),
            "__doc__" => Value::Unknown,
            // A class without a row: only its module matters.
            name => match &self.star {
                Some(module) if fold::is_class(name) => Value::Api(fold::canonical(&format!("{module}.{name}")).into()),
                _ => Value::Api(format!("builtins.{name}").into()),
            },
        }
    }

    fn formatted(&mut self, text: &'a ExprFString) -> Value {
        let mut whole: Value = "".into();
        for part in text.value.iter() {
            match part {
                ruff_python_ast::FStringPart::Literal(literal) => {
                    whole = fold::concatenate(&whole, &(&*literal.value).into());
                }
                ruff_python_ast::FStringPart::FString(inner) => {
                    for element in &inner.elements {
                        let piece = self.piece(element);
                        whole = fold::concatenate(&whole, &piece);
                    }
                }
            }
        }
        whole
    }

    fn piece(&mut self, element: &'a InterpolatedStringElement) -> Value {
        match element {
            InterpolatedStringElement::Literal(literal) => (&*literal.value).into(),
            InterpolatedStringElement::Interpolation(inner) => {
                let value = self.value(&inner.expression);
                if let Some(format) = &inner.format_spec {
                    for element in &format.elements {
                        self.piece(element);
                    }
                }
                let is_plain = inner.format_spec.is_none()
                    && inner.debug_text.is_none()
                    && matches!(
                        inner.conversion,
                        ruff_python_ast::ConversionFlag::None | ruff_python_ast::ConversionFlag::Str
                    );
                match is_plain {
                    true => fold::as_text(&value),
                    false => Value::Text(Text::unknown()),
                }
            }
        }
    }

    fn listed(&mut self, elements: &'a [Expr]) -> Value {
        if elements.len() > MAX_LITERAL {
            for element in elements.iter().filter(|element| !element.is_literal_expr()) {
                self.value(element);
            }
            return Value::Unknown;
        }
        let mut values = Vec::new();
        for element in elements {
            let value = self.value(element);
            match (element.is_starred_expr(), &value) {
                (true, Value::List(inner)) => values.extend(inner.iter().cloned()),
                (true, value) => values.push(self.any_element(value)),
                _ => values.push(value),
            }
        }
        Value::List(Rc::new(values))
    }

    fn record(&mut self, dict: &'a ruff_python_ast::ExprDict) -> Value {
        let is_long = dict.items.len() > MAX_LITERAL;
        let mut fields = Some(Vec::new());
        for item in &dict.items {
            if is_long && item.value.is_literal_expr() {
                continue;
            }
            let key = item.key.as_ref().map(|key| self.value(key));
            let value = self.value(&item.value);
            let Some(known) = &mut fields else { continue };
            match (key.as_ref().map(Value::text), value) {
                (Some(key), value) if key.exact().is_some() => {
                    known.push((key.exact().unwrap_or_default().to_string(), value));
                }
                (None, Value::Record(inner)) => known.extend(inner.iter().cloned()),
                _ => fields = None,
            }
        }
        match fields {
            Some(fields) if !is_long => Value::Record(Rc::new(fields)),
            _ => Value::Unknown,
        }
    }

    /// A comprehension: a list if it iterates over one known list without tests.
    fn comprehension(&mut self, generators: &'a [Comprehension], element: &'a Expr, key: Option<&'a Expr>) -> Value {
        let outer = self.scope();
        let inner = self.scopes.open(Some(outer));
        let first = match generators.first() {
            Some(generator) => {
                let over = self.value(&generator.iter);
                self.elements(&over)
            }
            None => Err(Value::Unknown),
        };
        self.frame().scope = inner;
        let result = match (generators, first) {
            ([generator], Ok(elements)) if self.may_repeat(elements.len()) => {
                let (mut names, mut values) = (Vec::new(), Vec::new());
                for value in elements {
                    self.assign(&generator.target, value);
                    self.values(&generator.ifs);
                    names.extend(key.map(|key| self.value(key).text()));
                    values.push(self.value(element));
                }
                let names = names.iter().map(|name| name.exact().map(str::to_string));
                match (key, names.collect::<Option<Vec<String>>>()) {
                    (None, _) => Value::List(values.into()),
                    (_, Some(names)) => Value::Record(Rc::new(names.into_iter().zip(values).collect())),
                    (_, None) => self.mapping(Value::either(values)),
                }
            }
            (generators, first) => {
                for (index, generator) in generators.iter().enumerate() {
                    let elements = match index {
                        0 => first.clone(),
                        _ => {
                            let over = self.value(&generator.iter);
                            self.elements(&over)
                        }
                    };
                    let value = elements.map_or_else(|element| element, Value::either);
                    self.assign(&generator.target, value);
                    self.values(&generator.ifs);
                }
                key.map(|key| self.value(key));
                let element = self.value(element);
                match key {
                    None => self.define(Own::Iterable { element }),
                    Some(_) => self.mapping(element),
                }
            }
        };
        self.frame().scope = outer;
        self.has_left = false;
        result
    }
}
