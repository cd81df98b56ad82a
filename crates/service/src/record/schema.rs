//! Values that fit a schema of OpenAPI 3, and patterns for the values that come. It checks nothing.

use std::cell::Cell;

use serde_json::{Map, Value, json};
use tare_load::pattern::Wildcard;

/// A schema may contain itself: no more levels are followed.
const DEPTH_MAX: usize = 12;
/// No more schemas are followed for one value.
const SCHEMAS_MAX: usize = 2_000;

/// What is made of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    /// A value that fits, to be sent.
    Example,
    /// A pattern of the values that fit.
    Pattern,
}

/// Makes one value out of the schemas of a document.
pub(super) struct Maker<'d> {
    document: &'d Value,
    made: Made,
    left: Cell<usize>,
}

/// What `value` is, or what it refers to in the same document.
pub(super) fn resolve<'d>(document: &'d Value, value: &'d Value) -> Option<&'d Value> {
    let mut value = value;
    for _ in 0..DEPTH_MAX {
        match value.get("$ref").and_then(Value::as_str) {
            None => return Some(value),
            Some(reference) => value = document.pointer(reference.strip_prefix('#')?)?,
        }
    }
    None
}

impl<'d> Maker<'d> {
    pub(super) fn new(document: &'d Value, made: Made) -> Maker<'d> {
        Maker { document, made, left: Cell::new(SCHEMAS_MAX) }
    }

    pub(super) fn of(&self, schema: &'d Value) -> Value {
        self.at(schema, DEPTH_MAX).unwrap_or_else(|| self.wild_or(Wildcard::Any, Value::Null))
    }

    /// Absent where the schema is endless or not there.
    fn at(&self, schema: &'d Value, depth: usize) -> Option<Value> {
        self.left.set(self.left.get().checked_sub(1)?);
        let depth = depth.checked_sub(1)?;
        let schema = resolve(self.document, schema)?;
        if let Some(value) = self.said(schema) {
            return Some(value);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.all(schema, parts, depth);
        }
        if let Some(choices) = ["oneOf", "anyOf"].iter().find_map(|word| schema.get(*word)?.as_array()) {
            return match self.made {
                Made::Example => choices.iter().find_map(|choice| self.at(choice, depth)),
                Made::Pattern => Some(wild(Wildcard::Any)),
            };
        }
        self.of_type(schema, depth)
    }

    /// A value that the schema itself says.
    fn said(&self, schema: &Value) -> Option<Value> {
        let choices = schema.get("enum").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        match (schema.get("const"), choices, self.made) {
            (Some(only), _, _) | (None, [only], _) => return Some(only.clone()),
            (None, _, Made::Pattern) => return None,
            (None, _, Made::Example) => {}
        }
        let examples = schema.get("examples").and_then(Value::as_array).and_then(|examples| examples.first());
        schema.get("example").or(examples).or_else(|| schema.get("default")).or(choices.first()).cloned()
    }

    /// The members of all parts.
    fn all(&self, schema: &'d Value, parts: &'d [Value], depth: usize) -> Option<Value> {
        let own = schema.get("properties").and_then(|_| self.of_type(schema, depth));
        let mut made = parts.iter().map(|part| self.at(part, depth)).collect::<Option<Vec<_>>>()?;
        made.extend(own);
        let objects: Option<Vec<&Map<String, Value>>> = made.iter().map(Value::as_object).collect();
        match objects {
            Some(objects) => Some(Value::Object(
                objects.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())).collect(),
            )),
            None => made.into_iter().next(),
        }
    }

    fn of_type(&self, schema: &'d Value, depth: usize) -> Option<Value> {
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ if schema.get("properties").is_some() => vec!["object"],
            _ => vec![],
        };
        let may_be_null = schema.get("nullable") == Some(&Value::Bool(true)) || types.len() > 1;
        if self.made == Made::Pattern && may_be_null {
            return Some(wild(Wildcard::Any));
        }
        let first = types.into_iter().find(|kind| *kind != "null").unwrap_or_default();
        Some(match first {
            "object" => self.object(schema, depth)?,
            "array" => match self.made {
                Made::Pattern => wild(Wildcard::Array),
                Made::Example => Value::Array(
                    schema.get("items").and_then(|items| self.at(items, depth)).into_iter().collect(),
                ),
            },
            "string" => self.string(schema),
            "integer" => self.wild_or(Wildcard::Int, minimum(schema)),
            "number" => self.wild_or(Wildcard::Number, minimum(schema)),
            "boolean" => self.wild_or(Wildcard::Bool, Value::Bool(true)),
            _ => self.wild_or(Wildcard::Any, json!("text")),
        })
    }

    /// With the members that must be there; an example of one that requires none has all of them.
    fn object(&self, schema: &'d Value, depth: usize) -> Option<Value> {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| match required {
            Some(required) => required.iter().any(|required| required == name),
            None => self.made == Made::Example,
        };
        let mut members = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, schema) in properties.filter(|(name, _)| is_required(name)) {
            let value = match (self.at(schema, depth), self.made) {
                (Some(value), _) => value,
                (None, Made::Pattern) => wild(Wildcard::Any),
                (None, Made::Example) if required.is_some() => return None,
                (None, Made::Example) => continue,
            };
            members.insert(name.clone(), value);
        }
        match (members.is_empty(), self.made) {
            (true, Made::Pattern) => Some(wild(Wildcard::Object)),
            _ => Some(Value::Object(members)),
        }
    }

    fn string(&self, schema: &Value) -> Value {
        match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
            "uuid" => self.wild_or(Wildcard::Uuid, json!("00000000-0000-4000-8000-000000000001")),
            "date-time" => self.wild_or(Wildcard::Timestamp, json!("2000-01-01T00:00:00Z")),
            "date" => self.wild_or(Wildcard::Text, json!("2000-01-01")),
            "email" => self.wild_or(Wildcard::Text, json!("user@example.com")),
            "uri" => self.wild_or(Wildcard::Text, json!("https://example.com/")),
            _ => {
                let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).clamp(4, 1_000);
                let text: String = "text".chars().cycle().take(usize::try_from(least).unwrap_or(4)).collect();
                self.wild_or(Wildcard::Text, Value::String(text))
            }
        }
    }

    fn wild_or(&self, wildcard: Wildcard, example: Value) -> Value {
        match self.made {
            Made::Pattern => wild(wildcard),
            Made::Example => example,
        }
    }
}

fn wild(wildcard: Wildcard) -> Value {
    Value::from(wildcard.to_string())
}

fn minimum(schema: &Value) -> Value {
    schema
        .get("minimum")
        .filter(|minimum| minimum.as_f64().is_some_and(|minimum| minimum > 1.0))
        .cloned()
        .unwrap_or(json!(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(made: Made, schema: &Value) -> Value {
        let document = json!({"components": {"schemas": {
            "Item": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "note": {"type": "string"}}},
            "Tree": {"type": "object", "required": ["left", "right"], "properties": {
                "left": {"$ref": "#/components/schemas/Tree"}, "right": {"$ref": "#/components/schemas/Tree"}}},
            "Self": {"$ref": "#/components/schemas/Self"},
        }}, "schema": schema});
        Maker::new(&document, made).of(&document["schema"])
    }

    #[test]
    fn a_schema_gives_a_value_and_a_pattern_that_takes_it() {
        for (schema, example, pattern) in [
            (json!({"$ref": "#/components/schemas/Item"}), json!({"id": 1}), json!({"id": "{{any:int}}"})),
            (
                json!({"type": "string", "format": "uuid"}),
                json!("00000000-0000-4000-8000-000000000001"),
                json!("{{any:uuid}}"),
            ),
            (
                json!({"type": "array", "items": {"type": "number", "minimum": 5}}),
                json!([5]),
                json!("{{any:array}}"),
            ),
            (json!({"type": "string", "nullable": true}), json!("text"), json!("{{any}}")),
            (json!({"type": ["null", "boolean"]}), json!(true), json!("{{any}}")),
            (json!({"enum": ["a"]}), json!("a"), json!("a")),
            (json!({"type": "string", "enum": ["a", "b"]}), json!("a"), json!("{{any:string}}")),
            (json!({"oneOf": [{"type": "integer"}, {"type": "string"}]}), json!(1), json!("{{any}}")),
            (json!({"type": "object"}), json!({}), json!("{{any:object}}")),
            (
                json!({"allOf": [{"$ref": "#/components/schemas/Item"}, {"properties": {"b": {"type": "boolean"}}, "required": ["b"]}]}),
                json!({"id": 1, "b": true}),
                json!({"id": "{{any:int}}", "b": "{{any:bool}}"}),
            ),
            (json!({"$ref": "other.yaml#/a"}), json!(null), json!("{{any}}")),
            (json!({"$ref": "#/components/schemas/Self"}), json!(null), json!("{{any}}")),
        ] {
            assert_eq!(made(Made::Example, &schema), example, "{schema}");
            assert_eq!(made(Made::Pattern, &schema), pattern, "{schema}");
            let pattern = tare_load::pattern::JsonPattern::new(pattern, true);
            assert!(pattern.matches(&example), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_contains_itself_ends() {
        let tree = json!({"$ref": "#/components/schemas/Tree"});
        assert_eq!(made(Made::Example, &tree), Value::Null);
        assert!(made(Made::Pattern, &tree).to_string().contains("{{any}}"));
    }
}
