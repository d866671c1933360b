//! The elements that loops, comprehensions and unpacking get from a value.

use super::super::text::Text;
use super::super::value::Value;
use super::own::Own;
use super::reader::Reader;

impl Reader<'_, '_> {
    /// Maximum number of elements of one list taken individually.
    const MAX_ELEMENTS: usize = 64;

    /// The elements of a known list, else the value of any element. Unseen code may have filled an empty list.
    pub fn elements(&mut self, value: &Value) -> Result<Vec<Value>, Value> {
        match value {
            Value::List(values) if values.is_empty() => Err(Value::Unknown),
            Value::List(values) if values.len() <= Self::MAX_ELEMENTS => Ok(values.to_vec()),
            Value::List(values) => Err(Value::either(values.to_vec())),
            Value::Record(fields) if fields.is_empty() => Err(Value::Unknown),
            Value::Record(fields) if fields.len() <= Self::MAX_ELEMENTS => {
                Ok(fields.iter().map(|(name, _)| name.as_str().into()).collect())
            }
            Value::Own(number) => match self.get(*number) {
                Some(Own::Iterable { element }) => Err(element),
                Some(Own::Object { .. }) => {
                    let inner = self.call_own_method(*number, &["__iter__", "__aiter__"], 0..0);
                    match inner {
                        Some(inner) if inner != *value => self.elements(&inner),
                        _ => Err(Value::Unknown),
                    }
                }
                _ => Err(Value::Unknown),
            },
            Value::Instance(class, Some(path)) if &**class == "os.scandir" => {
                let path = path.joined(&Text::unknown());
                Err(Value::Instance("os.DirEntry".into(), Some(path)))
            }
            Value::OneOf(all) => {
                let some = all.iter().filter(|value| **value != Value::Nothing);
                Err(Value::either(some.map(|value| self.any_element(value))))
            }
            _ => Err(Value::Unknown),
        }
    }
}
