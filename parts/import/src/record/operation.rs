//! One operation of an OpenAPI document: its request and the form of its answer.

use std::collections::HashMap;

use serde::de::IgnoredAny;
use tare_load::pattern::{JsonPattern, Wildcard};

use super::{
    LeftOutPart,
    form::{self, FormPart},
    left_out::{BodyError, ParameterError},
    node::{DocumentNode, Meaning, Scalar},
    reference::{resolve, resolved},
    schema::{Made, Maker, wild},
    style::{ParameterPlace, Serialisation, encoded_but},
    url::origin_and_path,
};
use tare_service::learn::{CONTENT_TYPE, LearnRequest, LearnedAnswer};

/// Header parameters to ignore: other parts of the document define these headers.
const IGNORED_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];
/// Characters allowed in paths besides unreserved ones.
const IN_PATHS: &[u8] = b":/?@!$&'()*+,;=";

pub(super) struct Operation<'d> {
    pub document: &'d DocumentNode,
    /// The path item; its operations share its parameters and servers.
    pub item: &'d DocumentNode,
    pub operation: &'d DocumentNode,
    pub method: String,
    /// The path in the document, relative to the server's path.
    pub path: &'d str,
}

/// The parameters of a request.
#[derive(Default)]
struct SentParameters<'d> {
    in_path: HashMap<&'d str, String>,
    query: Vec<String>,
    headers: Vec<(String, String)>,
    cookies: Vec<String>,
}

impl<'d> Operation<'d> {
    pub(super) fn wanted(
        &self,
        left_out: &mut Vec<LeftOutPart>,
    ) -> Result<(LearnRequest, LearnedAnswer), LeftOutPart> {
        let mut sent = self.sent(left_out)?;
        let mut path = self.filled(&sent.in_path)?;
        if !sent.query.is_empty() {
            let joint = if path.contains('?') { '&' } else { '?' };
            path = format!("{path}{joint}{}", sent.query.join("&"));
        }
        if !sent.cookies.is_empty() {
            sent.headers.push(("Cookie".to_owned(), sent.cookies.join("; ")));
        }
        let mut question =
            LearnRequest { method: self.method.clone(), path, body: None, headers: sent.headers };
        if let Some((content_type, body)) = self.body(left_out)? {
            question.headers.push((CONTENT_TYPE.to_owned(), content_type));
            question.body = Some(body);
        }
        let answer = self.answer()?;
        left_out.extend(self.scheme().map(|scheme| LeftOutPart::Credentials { asked: self.asked(), scheme }));
        Ok((question, answer))
    }

    /// The request's name in messages.
    fn asked(&self) -> String {
        format!("{} {}{}", self.method, self.base(), self.path)
    }

    /// The path of the first server; the most specific list counts.
    fn base(&self) -> String {
        let places = [self.operation, self.item, self.document];
        let Some(server) = places.into_iter().find_map(|place| place.elements("servers").first()) else {
            return String::new();
        };
        let mut url = server.word("url").unwrap_or_default().to_owned();
        for (name, variable) in server.members("variables") {
            url = url.replace(&format!("{{{name}}}"), variable.word("default").unwrap_or_default());
        }
        let path = origin_and_path(&url).map_or(url.clone(), |(_, path)| path);
        // A URL without host is relative to the document.
        match path.trim_start_matches('.').trim_matches('/') {
            "" => String::new(),
            path => format!("/{path}"),
        }
    }

    fn resolved(&self, node: &'d DocumentNode) -> Result<&'d DocumentNode, LeftOutPart> {
        resolved(self.document, node, self.asked())
    }

    fn sent(&self, left_out: &mut Vec<LeftOutPart>) -> Result<SentParameters<'d>, LeftOutPart> {
        let mut sent = SentParameters::default();
        for parameter in self.parameters()? {
            let name = parameter.word("name").unwrap_or_default();
            let wrong = |why| LeftOutPart::Parameter { asked: self.asked(), name: name.to_owned(), why };
            let place = parameter.word("in").unwrap_or_default();
            let place: ParameterPlace =
                place.parse().map_err(|_| wrong(ParameterError::Place(place.to_owned())))?;
            if place == ParameterPlace::Header
                && IGNORED_HEADERS.contains(&name.to_ascii_lowercase().as_str())
            {
                left_out.push(wrong(ParameterError::Ignored));
                continue;
            }
            let written = self.written(parameter, name, place).map_err(wrong)?;
            match place {
                ParameterPlace::Path => _ = sent.in_path.insert(name, written),
                ParameterPlace::Header => sent.headers.push((name.to_owned(), written)),
                // An empty list means that the parameter is missing.
                ParameterPlace::Query | ParameterPlace::Cookie if written.is_empty() => {}
                ParameterPlace::Query => sent.query.push(written),
                ParameterPlace::Cookie => sent.cookies.push(written),
            }
        }
        Ok(sent)
    }

    /// The required parameters, including all path parameters. The operation's replace the path item's.
    fn parameters(&self) -> Result<Vec<&'d DocumentNode>, LeftOutPart> {
        let mut found: Vec<&DocumentNode> = Vec::new();
        for parameter in
            [self.operation, self.item].into_iter().flat_map(|place| place.elements("parameters"))
        {
            let parameter = self.resolved(parameter)?;
            let is_same = |known: &&DocumentNode| {
                ["name", "in"].iter().all(|key| known.word(key) == parameter.word(key))
            };
            if !found.iter().any(is_same) {
                found.push(parameter);
            }
        }
        found.retain(|parameter| {
            parameter.flag("required") == Some(true) || parameter.word("in") == Some("path")
        });
        Ok(found)
    }

    fn written(
        &self,
        parameter: &'d DocumentNode,
        name: &str,
        place: ParameterPlace,
    ) -> Result<String, ParameterError> {
        if let Some((kind, content)) = parameter.members("content").next() {
            let value = self.example(content).ok_or(ParameterError::NoValue)?;
            let text = match value.scalar() {
                _ if is_json(kind) => value.to_string(),
                Some(scalar) => scalar.text().into_owned(),
                None => return Err(ParameterError::MediaType(kind.to_owned())),
            };
            return Ok(Serialisation::of_text(place).write(name, &DocumentNode::text(text))?);
        }
        let serialisation = Serialisation::of(parameter, place)?;
        let value = self.example(parameter).ok_or(ParameterError::NoValue)?;
        let value = match (value.scalar(), parameter.get("schema")) {
            // The example of a list may be a single text in its sent form.
            (Some(text), Some(schema)) if self.is("array", schema) && !self.is("string", schema) => {
                let list = DocumentNode::Sequence(text.text().split(',').map(DocumentNode::text).collect());
                self.maker(Made::Example).read(&list, schema)
            }
            _ => value,
        };
        if place == ParameterPlace::Cookie && serialisation.is_exploded() && value.scalar().is_none() {
            return Ok(serialisation.undefined("a list or an object of several cookies")?);
        }
        Ok(serialisation.write(name, &value)?)
    }

    /// The full path with a value for each placeholder.
    fn filled(&self, values: &HashMap<&str, String>) -> Result<String, LeftOutPart> {
        // A fragment distinguishes operations with the same path, and is not sent.
        let mut rest = self.path.split('#').next().unwrap_or_default();
        let mut filled = self.base();
        while let Some((before, (name, after))) =
            rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            let hole = || LeftOutPart::Hole { asked: self.asked(), name: name.to_owned() };
            filled += &encoded_but(before, IN_PATHS);
            filled += values.get(name).ok_or_else(hole)?;
            rest = after;
        }
        Ok(filled + &encoded_but(rest, IN_PATHS))
    }

    fn maker(&self, made: Made) -> Maker<'d> {
        Maker::new(self.document, made)
    }

    /// Whether a schema allows values of this type.
    fn is(&self, kind: &str, schema: &'d DocumentNode) -> bool {
        self.maker(Made::Example).is(kind, schema)
    }

    /// The example of a parameter or body, or one made from its schema.
    fn example(&self, of: &'d DocumentNode) -> Option<DocumentNode> {
        let named = of.members("examples").find_map(|(_, example)| {
            let example = resolve(self.document, example)?;
            example.get("value").or(example.get("dataValue"))
        });
        let example = of.get("example").filter(|example| !example.is_blank()).or(named);
        match (example, of.get("schema")) {
            (Some(example), Some(schema)) => Some(self.maker(Made::Example).read(example, schema)),
            (Some(example), None) => Some(example.clone()),
            (None, Some(schema)) => self.maker(Made::Example).of(schema),
            (None, None) => Some(DocumentNode::text("text")),
        }
    }

    /// The body and its type, if there is one.
    fn body(&self, left_out: &mut Vec<LeftOutPart>) -> Result<Option<(String, String)>, LeftOutPart> {
        let Some(body) = self.operation.get("requestBody") else { return Ok(None) };
        let body = self.resolved(body)?;
        let mut contents: Vec<(&str, &DocumentNode)> = body.members("content").collect();
        contents.sort_by_key(|(kind, _)| match form::essence(kind).as_str() {
            _ if is_json(kind) => 0,
            form::URL_ENCODED => 1,
            form::MULTIPART => 2,
            _ => 3,
        });
        let mut why = None;
        for (kind, content) in &contents {
            match self.body_of(kind, content) {
                // A form without fields counts as no body.
                Ok(body) => return Ok(Some(body).filter(|(_, text)| !text.is_empty())),
                Err(error) => _ = why.get_or_insert(error),
            }
        }
        let Some(mut why) = why else { return Ok(None) };
        if let BodyError::MediaType(kinds) = &mut why {
            *kinds = contents.iter().map(|(kind, _)| *kind).collect::<Vec<_>>().join(", ");
        }
        let asked = self.asked();
        match body.flag("required") {
            Some(true) => Err(LeftOutPart::Body { asked, why }),
            _ => {
                left_out.push(LeftOutPart::OptionalBody { asked, why });
                Ok(None)
            }
        }
    }

    fn body_of(&self, kind: &str, content: &'d DocumentNode) -> Result<(String, String), BodyError> {
        let no_type = || BodyError::MediaType(kind.to_owned());
        let has_example = content.get("example").or(content.get("examples")).is_some();
        let value = || self.example(content).ok_or(BodyError::NoValue);
        match form::essence(kind).as_str() {
            _ if is_json(kind) => Ok((kind.to_owned(), self.json(&value()?, content))),
            form::URL_ENCODED => {
                Ok((kind.to_owned(), fields(&value()?, content).ok_or_else(no_type)??.join("&")))
            }
            form::MULTIPART => {
                let parts = parts(&value()?, content).ok_or_else(no_type)?;
                let text = form::multipart(&parts, form::BOUNDARY).ok_or(BodyError::Boundary)?;
                Ok((format!("{}; boundary={}", form::MULTIPART, form::BOUNDARY), text))
            }
            essence if has_example || essence.starts_with("text/") => {
                let value = value()?;
                let text = value.scalar().ok_or_else(no_type)?.text().into_owned();
                Ok((kind.to_owned(), text))
            }
            _ => Err(no_type()),
        }
    }

    /// Text may be the whole body as sent, if the schema does not allow strings.
    fn json(&self, value: &DocumentNode, content: &'d DocumentNode) -> String {
        let takes_text = content.get("schema").is_some_and(|schema| self.is("string", schema));
        let text = value.scalar().map(Scalar::meaning).and_then(|meaning| match meaning {
            Meaning::Text(text) if !takes_text => Some(text),
            _ => None,
        });
        match text.filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok()) {
            Some(text) => text.to_owned(),
            None => value.to_string(),
        }
    }

    /// The first security scheme of the operation, or else of the document.
    fn scheme(&self) -> Option<String> {
        let security = self.operation.get("security").or_else(|| self.document.get("security"))?;
        let DocumentNode::Sequence(schemes) = security else { return None };
        // An empty requirement means that no scheme is needed.
        let schemes = schemes.iter().map(|scheme| match scheme {
            DocumentNode::Mapping(names) => names.keys().next(),
            DocumentNode::Scalar(_) | DocumentNode::Sequence(_) => None,
        });
        schemes.collect::<Option<Vec<_>>>()?.first().map(|scheme| (*scheme).clone())
    }

    /// The first described successful answer.
    fn answer(&self) -> Result<LearnedAnswer, LeftOutPart> {
        let right = self.operation.members("responses").find_map(|(status, response)| {
            let number = match status {
                "2XX" | "2xx" | "default" => 200,
                status => status.parse().ok()?,
            };
            (200..400).contains(&number).then_some((number, response))
        });
        let (status, response) = right.ok_or_else(|| LeftOutPart::NoAnswer { asked: self.asked() })?;
        let response = self.resolved(response)?;
        let content = response.members("content").find(|(kind, _)| is_json(kind));
        let schema = content.and_then(|(_, content)| content.get("schema"));
        Ok(match schema {
            Some(schema) if self.method != "HEAD" => {
                let pattern = self.maker(Made::Pattern).of(schema).unwrap_or_else(|| wild(Wildcard::Any));
                LearnedAnswer::like(status, &JsonPattern::new(pattern.value(), true))
            }
            _ => LearnedAnswer::of_status(status),
        })
    }
}

/// The fields of a form as sent; absent if the value is no object.
fn fields(value: &DocumentNode, content: &DocumentNode) -> Option<Result<Vec<String>, BodyError>> {
    let DocumentNode::Mapping(fields) = value else { return None };
    let field = |(name, value): (&String, &DocumentNode)| {
        let encoding = content.get("encoding").and_then(|encoding| encoding.get(name));
        let styled = encoding
            .filter(|of| ["style", "explode", "allowReserved"].iter().any(|key| of.get(key).is_some()));
        match styled {
            Some(encoding) => Serialisation::of(encoding, ParameterPlace::Query)
                .and_then(|serialisation| serialisation.write(name, value))
                .map_err(|source| BodyError::Field { name: name.clone(), source }),
            None => {
                let texts = texts(value);
                Ok(form::url_encoded(texts.iter().map(|(text, _)| (name.as_str(), text.as_str()))))
            }
        }
    };
    let written = fields.iter().map(field).filter(|field| !matches!(field, Ok(text) if text.is_empty()));
    Some(written.collect())
}

/// The parts of a multipart form; absent if the value is no object.
fn parts(value: &DocumentNode, content: &DocumentNode) -> Option<Vec<FormPart>> {
    let DocumentNode::Mapping(fields) = value else { return None };
    let part = |(name, value): (&String, &DocumentNode)| {
        let said = content.get("encoding").and_then(|encoding| encoding.get(name)?.word("contentType"));
        // Any of several types is acceptable.
        let said = said.map(|types| types.split(',').next().unwrap_or_default().trim().to_owned());
        let part = |(content, is_json): (String, bool)| FormPart {
            name: name.clone(),
            file_name: None,
            content_type: said.clone().or_else(|| is_json.then(|| "application/json".to_owned())),
            content,
        };
        texts(value).into_iter().map(part).collect::<Vec<_>>()
    };
    Some(fields.iter().flat_map(part).collect())
}

/// The values of a field and whether each is JSON; each element of a list is a separate value.
fn texts(value: &DocumentNode) -> Vec<(String, bool)> {
    let one = |value: &DocumentNode| match value.scalar() {
        Some(scalar) => (scalar.text().into_owned(), false),
        None => (value.to_string(), true),
    };
    match value {
        DocumentNode::Sequence(elements) => elements.iter().map(one).collect(),
        DocumentNode::Scalar(_) | DocumentNode::Mapping(_) => vec![one(value)],
    }
}

fn is_json(content_type: &str) -> bool {
    let kind = form::essence(content_type);
    kind == "application/json" || kind.ends_with("+json")
}
