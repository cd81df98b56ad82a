//! OpenAPI documents of version 3 (<https://spec.openapis.org/oas/v3.1.0>), in JSON or YAML: each operation becomes a request of its
//! examples, and a pattern of the schema of its answer.
//!
//! Read leniently: what is not understood is left out, and told.

use serde_json::{Map, Value};
use tare_load::pattern::JsonPattern;

use super::{
    LeftOut, Material, RecordError,
    schema::{Made, Maker, resolve},
    url::origin_and_path,
};
use tare_load::percent::encoded;

use crate::learn::{CONTENT_TYPE, LearnedAnswer, Question};

const METHODS: [&str; 7] = ["get", "head", "options", "post", "put", "patch", "delete"];
const FORM: &str = "application/x-www-form-urlencoded";

/// Reads the operations of a document.
///
/// # Errors
/// It is no OpenAPI document, or one of another version.
pub fn read(text: &str) -> Result<Material, RecordError> {
    // JSON is YAML too, but its own reader is faster and knows no aliases.
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(_) => serde_saphyr::from_str(text)
            .map_err(|error| RecordError::Unknown(first_line(&error.to_string())))?,
    };
    match (text_of(&document, "openapi"), text_of(&document, "swagger")) {
        (Some(version), _) if version.starts_with("3.") => {}
        (Some(version), _) | (None, Some(version)) => return Err(RecordError::Version(version.to_owned())),
        (None, None) => return Err(RecordError::Unknown("it has no key \"openapi\"".to_owned())),
    }
    let title = document.pointer("/info/title").and_then(Value::as_str).unwrap_or("an OpenAPI document");
    let mut source =
        Material { title: format!("recorded from {}", first_line(title)), ..Material::default() };
    let base = base(&document);
    for (path, item) in members(&document, "paths") {
        let Some(item) = resolve(&document, item) else { continue };
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let operation = Operation {
                document: &document,
                item,
                operation,
                asked: format!("{} {base}{path}", method.to_uppercase()),
            };
            match operation.wanted(method, &format!("{base}{path}"), &mut source.left_out) {
                Ok(wanted) => source.wanted.push(wanted),
                Err(why) => source.left_out.push(why),
            }
        }
    }
    Ok(source)
}

/// The path of the first server, which is before all others.
fn base(document: &Value) -> String {
    let Some(server) = document.pointer("/servers/0") else { return String::new() };
    let mut url = text_of(server, "url").unwrap_or_default().to_owned();
    for (name, variable) in members(server, "variables") {
        url = url.replace(&format!("{{{name}}}"), text_of(variable, "default").unwrap_or_default());
    }
    let path = origin_and_path(&url).map_or(url.clone(), |(_, path)| path);
    path.trim_end_matches('/').to_owned()
}

struct Operation<'d> {
    document: &'d Value,
    /// The path, whose parameters all its operations have.
    item: &'d Value,
    operation: &'d Value,
    /// Its name in messages.
    asked: String,
}

impl<'d> Operation<'d> {
    fn wanted(
        &self,
        method: &str,
        path: &str,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<(Question, LearnedAnswer), LeftOut> {
        let mut question = Question {
            method: method.to_uppercase(),
            path: path.to_owned(),
            body: None,
            headers: Vec::new(),
        };
        let mut query = Vec::new();
        for parameter in self.parameters() {
            let name = text_of(parameter, "name").unwrap_or_default();
            let value = plain(&self.example(parameter));
            match text_of(parameter, "in") {
                Some("path") => {
                    question.path = question.path.replace(&format!("{{{name}}}"), &encoded(&value))
                }
                Some("query") => query.push(format!("{}={}", encoded(name), encoded(&value))),
                Some("header") => question.headers.push((name.to_owned(), value)),
                _ => return Err(LeftOut::Cookie { asked: self.asked.clone(), name: name.to_owned() }),
            }
        }
        if !query.is_empty() {
            question.path = format!("{}?{}", question.path, query.join("&"));
        }
        if let Some((content_type, body)) = self.body()? {
            question.headers.push((CONTENT_TYPE.to_owned(), content_type.to_owned()));
            question.body = Some(body);
        }
        left_out
            .extend(self.scheme().map(|scheme| LeftOut::Credentials { asked: self.asked.clone(), scheme }));
        let answer = self.answer(&question)?;
        Ok((question, answer))
    }

    /// Those that must be given. One of the operation replaces one of the path.
    fn parameters(&self) -> Vec<&'d Value> {
        let mut found: Vec<&Value> = Vec::new();
        for place in [self.operation, self.item] {
            for parameter in elements(place, "parameters").filter_map(|one| resolve(self.document, one)) {
                let is_same =
                    |known: &&Value| ["name", "in"].iter().all(|key| known.get(key) == parameter.get(key));
                if !found.iter().any(is_same) {
                    found.push(parameter);
                }
            }
        }
        found.retain(|parameter| parameter.get("required") == Some(&Value::Bool(true)));
        found
    }

    /// The example of a parameter or of a body, or one that its schema gives.
    fn example(&self, of: &'d Value) -> Value {
        let named =
            of.get("examples").and_then(Value::as_object).and_then(|examples| examples.values().next());
        let named = named.and_then(|example| resolve(self.document, example)?.get("value"));
        match of.get("example").or(named) {
            Some(example) => example.clone(),
            None => Maker::new(self.document, Made::Example).of(of.get("schema").unwrap_or(&Value::Null)),
        }
    }

    /// The body with its type, if there is one.
    fn body(&self) -> Result<Option<(&'d str, String)>, LeftOut> {
        let body = self.operation.get("requestBody").and_then(|body| resolve(self.document, body));
        let Some(body) = body else { return Ok(None) };
        let json = members(body, "content").find(|(kind, _)| is_json(kind));
        if let Some((kind, content)) = json {
            return Ok(Some((kind, self.example(content).to_string())));
        }
        let form = members(body, "content").find(|(kind, _)| *kind == FORM);
        match form.map(|(kind, content)| (kind, self.example(content))) {
            Some((kind, Value::Object(fields))) => {
                let field = |(name, value): (&String, &Value)| {
                    format!("{}={}", encoded(name), encoded(&plain(value)))
                };
                Ok(Some((kind, fields.iter().map(field).collect::<Vec<_>>().join("&"))))
            }
            _ if body.get("required") != Some(&Value::Bool(true)) => Ok(None),
            _ => {
                let types: Vec<&str> = members(body, "content").map(|(kind, _)| kind).collect();
                Err(LeftOut::BodyType { asked: self.asked.clone(), types: types.join(", ") })
            }
        }
    }

    /// The first scheme that the operation, or else the document, asks for.
    fn scheme(&self) -> Option<String> {
        let security =
            self.operation.get("security").or_else(|| self.document.get("security"))?.as_array()?;
        // An empty one means that none is needed.
        let schemes =
            security.iter().map(|scheme| scheme.as_object().and_then(|scheme| scheme.keys().next()));
        schemes.collect::<Option<Vec<_>>>()?.first().map(|scheme| (*scheme).clone())
    }

    /// The first right answer that is described.
    fn answer(&self, asked: &Question) -> Result<LearnedAnswer, LeftOut> {
        let right = members(self.operation, "responses").find_map(|(status, response)| {
            let number = match status {
                "2XX" | "2xx" | "default" => 200,
                status => status.parse().ok()?,
            };
            (200..400).contains(&number).then_some((number, response))
        });
        let (status, response) = right.ok_or(LeftOut::NoAnswer { asked: self.asked.clone() })?;
        let response = resolve(self.document, response).unwrap_or(response);
        let content = members(response, "content").find(|(kind, _)| is_json(kind));
        let schema = content.and_then(|(_, content)| content.get("schema"));
        Ok(match schema {
            Some(schema) if asked.method != "HEAD" => {
                let pattern = Maker::new(self.document, Made::Pattern).of(schema);
                LearnedAnswer::like(status, &JsonPattern::new(pattern, true))
            }
            _ => LearnedAnswer::of_status(status),
        })
    }
}

fn text_of<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

fn members<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = (&'v str, &'v Value)> {
    let members = value.get(key).and_then(Value::as_object).map(Map::iter);
    members.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

fn elements<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    kind == "application/json" || kind.ends_with("+json")
}

/// As it stands in a path or a form: a text without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Wish, record};

    const SHOP: &str = include_str!("shop.yaml");

    #[test]
    fn a_document_gives_requests_and_patterns() {
        let wish = Wish { name: "shop", writes: true, server: None };
        let recorded = record(read(SHOP).unwrap(), &wish).unwrap();
        let told: Vec<String> = recorded.left_out.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(format!("{}\n---\n{}", told.join("\n"), recorded.learned.text));
    }

    #[test]
    fn the_same_in_json_gives_the_same() {
        let json = serde_saphyr::from_str::<Value>(SHOP).unwrap().to_string();
        let both = [SHOP, &json].map(|text| format!("{:?}", read(text).unwrap()));
        assert_eq!(both[0], both[1]);
    }

    #[test]
    fn other_documents_are_named() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert!(error("swagger: '2.0'").starts_with("is OpenAPI 2.0"), "{}", error("swagger: '2.0'"));
        assert_eq!(error("a: b"), "is no OpenAPI document and no HAR file: it has no key \"openapi\"");
        assert!(error("a: [").starts_with("is no OpenAPI document and no HAR file: "));
    }
}
