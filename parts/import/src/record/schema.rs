//! Makes example values and patterns from OpenAPI 3 schemas. It does not validate.

use std::cell::Cell;

use tare_load::pattern::Wildcard;

use super::{
    node::{DocumentNode, Mapping, Meaning},
    reference::resolve,
};

/// Deepest level, since a schema may contain itself.
const DEPTH_MAX: usize = 12;
/// Most schemas followed for one value.
const SCHEMAS_MAX: usize = 2_000;

/// The kind of result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    /// A valid value to send.
    Example,
    /// A pattern for valid values.
    Pattern,
}

/// Makes one value from the schemas of a document.
pub(super) struct Maker<'d> {
    document: &'d DocumentNode,
    made: Made,
    left: Cell<usize>,
}

impl<'d> Maker<'d> {
    pub(super) fn new(document: &'d DocumentNode, made: Made) -> Maker<'d> {
        Maker { document, made, left: Cell::new(SCHEMAS_MAX) }
    }

    /// Absent if the schema is infinite, or a part is missing.
    pub(super) fn of(&self, schema: &'d DocumentNode) -> Option<DocumentNode> {
        self.at(schema, DEPTH_MAX)
    }

    /// Converts a value by its schema: strings keep their spelling, such as the postal code `01234`.
    pub(super) fn read(&self, value: &DocumentNode, schema: &'d DocumentNode) -> DocumentNode {
        let mut parts = Vec::new();
        self.parts(schema, DEPTH_MAX, &mut parts);
        let of = |value: &DocumentNode, schema: Option<&'d DocumentNode>| match schema {
            Some(schema) => self.read(value, schema),
            None => value.clone(),
        };
        match value {
            DocumentNode::Scalar(scalar) => {
                let is_a = |kinds: &[&str]| {
                    parts.iter().flat_map(|part| types(part)).any(|kind| kinds.contains(&kind))
                };
                let fits = match scalar.meaning() {
                    Meaning::Text(_) => return value.clone(),
                    Meaning::Null => is_a(&["null"]) || parts.iter().any(|part| may_be_null(part)),
                    Meaning::Bool(_) => is_a(&["boolean"]),
                    Meaning::Number(_) => is_a(&["number", "integer"]),
                };
                if is_a(&["string"]) && !fits { DocumentNode::text(scalar.spelling()) } else { value.clone() }
            }
            DocumentNode::Sequence(elements) => {
                let items = parts.iter().find_map(|part| part.get("items"));
                let own =
                    |place: usize| parts.iter().find_map(|part| part.elements("prefixItems").get(place));
                let read = |(place, element)| of(element, own(place).or(items));
                DocumentNode::Sequence(elements.iter().enumerate().map(read).collect())
            }
            DocumentNode::Mapping(members) => {
                let rest = parts.iter().find_map(|part| part.get("additionalProperties"));
                let own = |name: &str| parts.iter().find_map(|part| part.get("properties")?.get(name));
                let read =
                    |(name, value): (&String, &DocumentNode)| (name.clone(), of(value, own(name).or(rest)));
                DocumentNode::Mapping(members.iter().map(read).collect())
            }
        }
    }

    /// Whether the schema allows this type.
    pub(super) fn is(&self, kind: &str, schema: &'d DocumentNode) -> bool {
        let mut parts = Vec::new();
        self.parts(schema, DEPTH_MAX, &mut parts);
        parts.iter().flat_map(|part| types(part)).any(|one| one == kind)
    }

    /// The schema and all parts of its `allOf`, `oneOf` and `anyOf`.
    fn parts(&self, schema: &'d DocumentNode, depth: usize, found: &mut Vec<&'d DocumentNode>) {
        let schema = resolve(self.document, schema).filter(|_| found.len() < SCHEMAS_MAX);
        let (Some(schema), Some(depth)) = (schema, depth.checked_sub(1)) else { return };
        found.push(schema);
        for word in ["allOf", "oneOf", "anyOf"] {
            schema.elements(word).iter().for_each(|part| self.parts(part, depth, found));
        }
    }

    /// Absent if the schema is infinite or missing.
    fn at(&self, schema: &'d DocumentNode, depth: usize) -> Option<DocumentNode> {
        self.left.set(self.left.get().checked_sub(1)?);
        let depth = depth.checked_sub(1)?;
        let schema = resolve(self.document, schema)?;
        if let Some(value) = self.said(schema) {
            return Some(self.read(value, schema));
        }
        let parts = schema.elements("allOf");
        if !parts.is_empty() {
            return self.all(schema, parts, depth);
        }
        let choices = ["oneOf", "anyOf"].into_iter().map(|word| schema.elements(word));
        if let Some(choices) = choices.into_iter().find(|choices| !choices.is_empty()) {
            return match self.made {
                Made::Example => choices.iter().find_map(|choice| self.at(choice, depth)),
                Made::Pattern => Some(wild(Wildcard::Any)),
            };
        }
        self.of_type(schema, depth)
    }

    /// A value given by the schema itself.
    fn said(&self, schema: &'d DocumentNode) -> Option<&'d DocumentNode> {
        let choices = schema.elements("enum");
        match (schema.get("const"), choices, self.made) {
            (Some(only), _, _) | (None, [only], _) => return Some(only),
            (None, _, Made::Pattern) => return None,
            (None, _, Made::Example) => {}
        }
        let said = [schema.get("example"), schema.elements("examples").first(), schema.get("default")];
        said.into_iter().flatten().find(|value| !value.is_blank()).or(choices.first())
    }

    /// The members of all parts.
    fn all(&self, schema: &'d DocumentNode, parts: &'d [DocumentNode], depth: usize) -> Option<DocumentNode> {
        let own = schema.get("properties").and_then(|_| self.of_type(schema, depth));
        let made = parts.iter().map(|part| self.at(part, depth)).collect::<Option<Vec<_>>>()?;
        let mut members = Mapping::new();
        for one in made.iter().chain(&own) {
            match one {
                DocumentNode::Mapping(more) => members.extend(more.clone()),
                DocumentNode::Scalar(_) | DocumentNode::Sequence(_) => return made.into_iter().next(),
            }
        }
        Some(DocumentNode::Mapping(members))
    }

    fn of_type(&self, schema: &'d DocumentNode, depth: usize) -> Option<DocumentNode> {
        let types = types(schema);
        if self.made == Made::Pattern && (may_be_null(schema) || types.len() > 1) {
            return Some(wild(Wildcard::Any));
        }
        let first = types.into_iter().find(|kind| *kind != "null").unwrap_or_default();
        Some(match first {
            "object" => self.object(schema, depth)?,
            "array" => match self.made {
                Made::Pattern => wild(Wildcard::Array),
                Made::Example => DocumentNode::Sequence(
                    schema.get("items").and_then(|items| self.at(items, depth)).into_iter().collect(),
                ),
            },
            "string" => self.string(schema)?,
            "integer" => self.wild_or(Wildcard::Int, minimum(schema)),
            "number" => self.wild_or(Wildcard::Number, minimum(schema)),
            "boolean" => self.wild_or(Wildcard::Bool, DocumentNode::plain("true")),
            _ => self.wild_or(Wildcard::Any, DocumentNode::text("text")),
        })
    }

    /// The object's required members; an example without `required` has all of them.
    fn object(&self, schema: &'d DocumentNode, depth: usize) -> Option<DocumentNode> {
        let required = schema.get("required").map(|_| schema.elements("required"));
        let is_required = |name: &str| match required {
            Some(required) => required.iter().any(|required| required.spelling() == Some(name)),
            None => self.made == Made::Example,
        };
        // Requests do not contain read-only members, answers no write-only ones.
        let absent = match self.made {
            Made::Example => "readOnly",
            Made::Pattern => "writeOnly",
        };
        let mut members = Mapping::new();
        for (name, schema) in schema.members("properties").filter(|(name, _)| is_required(name)) {
            let is_absent =
                resolve(self.document, schema).and_then(|schema| schema.flag(absent)) == Some(true);
            let value = match (self.at(schema, depth), self.made) {
                _ if is_absent => continue,
                (Some(value), _) => value,
                (None, Made::Pattern) => wild(Wildcard::Any),
                (None, Made::Example) if required.is_some() => return None,
                (None, Made::Example) => continue,
            };
            members.insert(name.to_owned(), value);
        }
        match (members.is_empty(), self.made) {
            (true, Made::Pattern) => Some(wild(Wildcard::Object)),
            _ => Some(DocumentNode::Mapping(members)),
        }
    }

    /// Absent for the content of a file, which no document contains.
    fn string(&self, schema: &DocumentNode) -> Option<DocumentNode> {
        let (wildcard, example) = match schema.word("format").unwrap_or_default() {
            "binary" if self.made == Made::Example => return None,
            "uuid" => (Wildcard::Uuid, "00000000-0000-4000-8000-000000000001"),
            "date-time" => (Wildcard::Timestamp, "2000-01-01T00:00:00Z"),
            "date" => (Wildcard::Text, "2000-01-01"),
            "email" => (Wildcard::Text, "user@example.com"),
            "uri" => (Wildcard::Text, "https://example.com/"),
            _ => {
                let least = schema.word("minLength").and_then(|least| least.parse().ok()).unwrap_or(0);
                let text: String = "text".chars().cycle().take(usize::clamp(least, 4, 1_000)).collect();
                return Some(self.wild_or(Wildcard::Text, DocumentNode::text(text)));
            }
        };
        Some(self.wild_or(wildcard, DocumentNode::text(example)))
    }

    fn wild_or(&self, wildcard: Wildcard, example: DocumentNode) -> DocumentNode {
        match self.made {
            Made::Pattern => wild(wildcard),
            Made::Example => example,
        }
    }
}

/// The types of a schema.
fn types(schema: &DocumentNode) -> Vec<&str> {
    match schema.get("type") {
        Some(DocumentNode::Scalar(one)) => vec![one.spelling()],
        Some(DocumentNode::Sequence(several)) => several.iter().filter_map(DocumentNode::spelling).collect(),
        _ if schema.get("properties").is_some() => vec!["object"],
        _ => vec![],
    }
}

fn may_be_null(schema: &DocumentNode) -> bool {
    schema.flag("nullable") == Some(true)
}

pub(super) fn wild(wildcard: Wildcard) -> DocumentNode {
    DocumentNode::text(wildcard.to_string())
}

fn minimum(schema: &DocumentNode) -> DocumentNode {
    let is_above = |minimum: &&DocumentNode| minimum.value().as_f64().is_some_and(|minimum| minimum > 1.0);
    schema.get("minimum").filter(is_above).cloned().unwrap_or_else(|| DocumentNode::plain("1"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::record::yaml;

    fn made(made: Made, schema: &Value) -> Option<Value> {
        let document = json!({"components": {"schemas": {
            "Item": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "note": {"type": "string"}}},
            "Tree": {"type": "object", "required": ["left", "right"], "properties": {
                "left": {"$ref": "#/components/schemas/Tree"}, "right": {"$ref": "#/components/schemas/Tree"}}},
            "Self": {"$ref": "#/components/schemas/Self"},
        }}, "schema": schema});
        let document = yaml::read(&document.to_string()).unwrap();
        let value = Maker::new(&document, made).of(document.get("schema").unwrap());
        value.map(|value| value.value())
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
            (
                json!({"properties": {"id": {"type": "integer", "readOnly": true}, "name": {"type": "string", "minLength": 6}}}),
                json!({"name": "textte"}),
                json!("{{any:object}}"),
            ),
        ] {
            assert_eq!(made(Made::Example, &schema), Some(example.clone()), "{schema}");
            assert_eq!(made(Made::Pattern, &schema), Some(pattern.clone()), "{schema}");
            let pattern = tare_load::pattern::JsonPattern::new(pattern, true);
            assert!(pattern.matches(&example), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_contains_itself_ends() {
        let tree = json!({"$ref": "#/components/schemas/Tree"});
        assert_eq!(made(Made::Example, &tree), None);
        assert!(made(Made::Pattern, &tree).unwrap().to_string().contains("{{any}}"));
    }

    #[test]
    fn what_cannot_be_made_is_absent() {
        for schema in [
            json!({"$ref": "other.yaml#/a"}),
            json!({"$ref": "#/components/schemas/Self"}),
            json!({"type": "object", "required": ["file"], "properties": {"file": {"type": "string", "format": "binary"}}}),
        ] {
            assert_eq!(made(Made::Example, &schema), None, "{schema}");
        }
        let optional = json!({"properties": {"file": {"type": "string", "format": "binary"}, "name": {"type": "string"}}});
        assert_eq!(made(Made::Example, &optional), Some(json!({"name": "text"})));
    }

    /// The example, converted by the schema, as JSON.
    fn read(schema: &str, value: &str) -> String {
        let text = format!(
            "components: {{schemas: {{Zip: {{type: string}}, All: {{allOf: [{{$ref: '#/components/schemas/Zip'}}]}}}}}}\n\
             schema: {schema}\nvalue: {value}\n"
        );
        let document = yaml::read(&text).unwrap();
        let maker = Maker::new(&document, Made::Example);
        maker.read(document.get("value").unwrap(), document.get("schema").unwrap()).to_string()
    }

    #[test]
    fn the_schema_decides_what_a_value_is() {
        for (schema, value, expected) in [
            ("{type: string}", "01234", "\"01234\""),
            ("{type: string}", "1e10", "\"1e10\""),
            ("{type: string}", "0x1f", "\"0x1f\""),
            ("{type: string}", "1.10", "\"1.10\""),
            ("{type: string}", "true", "\"true\""),
            ("{type: string}", "~", "\"~\""),
            ("{type: string, nullable: true}", "null", "null"),
            ("{type: [string, 'null']}", "null", "null"),
            ("{type: [string, null]}", "~", "null"),
            ("{type: integer}", "01234", "1234"),
            ("{type: integer}", "0o17", "15"),
            ("{type: integer}", "12345678901234567890123", "12345678901234567890123"),
            ("{type: number}", "1.10", "1.10"),
            ("{type: [integer, string]}", "007", "7"),
            ("{type: [boolean, string]}", "007", "\"007\""),
            ("{type: boolean}", "True", "true"),
            ("{type: boolean}", "yes", "\"yes\""),
            ("{}", "01234", "1234"),
            ("{$ref: '#/components/schemas/Zip'}", "01234", "\"01234\""),
            ("{$ref: '#/components/schemas/All'}", "01234", "\"01234\""),
            ("{anyOf: [{type: integer}, {type: string}]}", "1.5", "1.5"),
            ("{oneOf: [{type: boolean}, {type: string}]}", "1.50", "\"1.50\""),
            ("{type: array, items: {type: string}}", "[1.0, no, 2]", "[\"1.0\",\"no\",\"2\"]"),
            (
                "{type: array, prefixItems: [{type: string}], items: {type: integer}}",
                "[01, 02]",
                "[\"01\",2]",
            ),
            (
                "{properties: {zip: {$ref: '#/components/schemas/Zip'}}}",
                "{zip: 01, n: 01}",
                "{\"zip\":\"01\",\"n\":1}",
            ),
            (
                "{type: object, additionalProperties: {type: string}}",
                "{a: 1_0, b: 010}",
                "{\"a\":\"1_0\",\"b\":\"010\"}",
            ),
        ] {
            assert_eq!(read(schema, value), expected, "{schema} {value}");
        }
        for (schema, expected) in [
            ("{type: string, enum: [on, off]}", "\"on\""),
            ("{type: string, enum: [01, 02]}", "\"01\""),
            ("{type: string, default: 1.0}", "\"1.0\""),
            ("{type: string, const: 0o7}", "\"0o7\""),
            ("{type: string, example: , default: a}", "\"a\""),
            ("{type: string, examples: [2026-01-02, b]}", "\"2026-01-02\""),
        ] {
            let document = yaml::read(schema).unwrap();
            assert_eq!(
                Maker::new(&document, Made::Example).of(&document).unwrap().to_string(),
                expected,
                "{schema}"
            );
        }
    }
}
