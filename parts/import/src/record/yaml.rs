//! Reads YAML 1.2, a superset of JSON, into a tree that keeps spellings.
//!
//! As an extension, `<<` merges mappings as in YAML 1.1, which many tools use. Names are always text: the
//! member `no` has the name "no".

use std::{borrow::Cow, collections::HashMap};

use granit_parser::{Event, Parser, ScalarStyle, StrInput, Tag};
use serde::de::IgnoredAny;

use super::node::{DocumentNode, Mapping, Scalar};

/// Deepest nesting of lists and mappings; walks of the tree are recursive.
const DEPTH_MAX: usize = 200;
/// Limit of the content that aliases repeat: a few lines can expand beyond any memory.
const COPIED_BYTES_MAX: usize = 64 << 20;
/// Limit of a member's name: YAML allows 1024, but JSON has no limit.
const KEY_CHARS_MAX: usize = 1 << 16;
const MERGE: &str = "<<";

/// Why a text is not a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct YamlError {
    line: usize,
    fault: YamlFault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum YamlFault {
    #[error("{0}")]
    Syntax(String),
    #[error("there is nothing in it")]
    Empty,
    #[error("a second document begins")]
    Second,
    #[error("the name \"{0}\" is there twice")]
    Twice(String),
    #[error("the name of a member is a list or a mapping")]
    Name,
    #[error("lists and mappings are nested more than {DEPTH_MAX} deep")]
    Depth,
    #[error("an alias stands in what it repeats")]
    Endless,
    #[error("aliases repeat more than {} MB", COPIED_BYTES_MAX >> 20)]
    Copies,
    #[error("\"{MERGE}\" needs a mapping, or a list of them")]
    Merge,
}

impl YamlFault {
    fn at<T>(self, line: usize) -> Result<T, YamlError> {
        Err(YamlError { line, fault: self })
    }
}

struct YamlReader<'t> {
    events: Parser<'t, StrInput<'t>>,
    /// Anchored nodes by the number of the anchor.
    anchors: HashMap<usize, DocumentNode>,
    copied_bytes: usize,
}

/// Reads a text that consists of one document.
///
/// # Errors
/// The text is not YAML, has no or several documents, or repeats a name.
pub(super) fn read(text: &str) -> Result<DocumentNode, YamlError> {
    let text = with_escapes(text);
    let options = granit_parser::options! { emit_comments: false, simple_key_max_lookahead: KEY_CHARS_MAX };
    let events = Parser::new_from_str_with_options(&text, options);
    let mut reader = YamlReader { events, anchors: HashMap::new(), copied_bytes: 0 };
    let mut root = None;
    loop {
        match reader.next()? {
            (Event::DocumentStart(..), line) if root.is_some() => return YamlFault::Second.at(line),
            (Event::DocumentStart(..), _) => root = Some(reader.node(DEPTH_MAX)?),
            (Event::StreamEnd, line) => return root.map_or_else(|| YamlFault::Empty.at(line), Ok),
            _ => {}
        }
    }
}

/// JSON strings may contain characters that YAML forbids, such as control characters from a wrong conversion.
fn with_escapes(text: &str) -> Cow<'_, str> {
    let is_hidden =
        |c: char| matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}');
    let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
    if !text.contains(is_hidden) || !is_json() {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if is_hidden(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    text.chars().map(escaped).collect()
}

impl<'t> YamlReader<'t> {
    /// The next event and its line.
    fn next(&mut self) -> Result<(Event<'t>, usize), YamlError> {
        match self.events.next_event() {
            Some(Ok((event, span))) => {
                let is_written = span.start.index() < span.end.index();
                let event = match event {
                    // The parser reports a placeholder for a missing value.
                    Event::Scalar(_, ScalarStyle::Plain, anchor, tag) if !is_written => {
                        Event::Scalar(Cow::Borrowed(""), ScalarStyle::Plain, anchor, tag)
                    }
                    event => event,
                };
                Ok((event, span.start.line()))
            }
            Some(Err(error)) => YamlFault::Syntax(error.info()).at(error.marker().line()),
            None => Ok((Event::StreamEnd, 1)),
        }
    }

    fn node(&mut self, depth: usize) -> Result<DocumentNode, YamlError> {
        let (event, line) = self.next()?;
        self.node_of(event, line, depth)
    }

    /// The node that begins with `event`; it may be nested `depth` levels deep.
    fn node_of(&mut self, event: Event<'t>, line: usize, depth: usize) -> Result<DocumentNode, YamlError> {
        let Some(depth) = depth.checked_sub(1) else { return YamlFault::Depth.at(line) };
        let (anchor, node) = match event {
            Event::Alias(anchor) => return self.repeated(anchor, line, depth),
            Event::Scalar(text, style, anchor, tag) => (
                anchor,
                DocumentNode::Scalar(Scalar::new(text.into_owned(), is_plain(style, tag.as_deref()))),
            ),
            Event::SequenceStart(_, anchor, _) => (anchor, self.sequence(depth)?),
            Event::MappingStart(_, anchor, _) => (anchor, self.mapping(depth)?),
            other => return YamlFault::Syntax(format!("{other:?} is no value")).at(line),
        };
        if anchor > 0 {
            self.count(&node, line, depth)?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn sequence(&mut self, depth: usize) -> Result<DocumentNode, YamlError> {
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(DocumentNode::Sequence(elements)),
                (event, line) => elements.push(self.node_of(event, line, depth)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<DocumentNode, YamlError> {
        let mut members = Mapping::new();
        let mut merged = None;
        loop {
            let (event, line) = self.next()?;
            let is_merge =
                matches!(&event, Event::Scalar(text, ScalarStyle::Plain, _, _) if text.as_ref() == MERGE);
            let name = match event {
                Event::MappingEnd => break,
                Event::Scalar(..) | Event::Alias(_) => self.node_of(event, line, depth)?,
                _ => return YamlFault::Name.at(line),
            };
            let DocumentNode::Scalar(name) = name else { return YamlFault::Name.at(line) };
            let name = name.spelling().to_owned();
            let value = self.node(depth)?;
            let before = match is_merge {
                true => merged.replace((line, value)).map(|_| ()),
                false if members.contains_key(&name) => Some(()),
                false => members.insert(name.clone(), value).map(|_| ()),
            };
            if before.is_some() {
                return YamlFault::Twice(name).at(line);
            }
        }
        if let Some((line, value)) = merged {
            merge(&mut members, value, line)?;
        }
        Ok(DocumentNode::Mapping(members))
    }

    fn repeated(&mut self, anchor: usize, line: usize, depth: usize) -> Result<DocumentNode, YamlError> {
        let Some(node) = self.anchors.get(&anchor).cloned() else { return YamlFault::Endless.at(line) };
        self.count(&node, line, depth)?;
        Ok(node)
    }

    /// Checks the limits of copied nodes.
    fn count(&mut self, node: &DocumentNode, line: usize, depth: usize) -> Result<(), YamlError> {
        let (bytes, levels) = size(node);
        self.copied_bytes += bytes;
        match () {
            () if self.copied_bytes > COPIED_BYTES_MAX => YamlFault::Copies.at(line),
            () if levels > depth + 1 => YamlFault::Depth.at(line),
            () => Ok(()),
        }
    }
}

/// Approximate memory in bytes, and levels.
fn size(node: &DocumentNode) -> (usize, usize) {
    let own = size_of::<DocumentNode>();
    let sum = |sizes: &mut dyn Iterator<Item = (usize, usize)>| {
        sizes.fold((own, 1), |(bytes, levels), (more, below)| (bytes + more, levels.max(below + 1)))
    };
    match node {
        DocumentNode::Scalar(scalar) => (own + scalar.spelling().len(), 1),
        DocumentNode::Sequence(elements) => sum(&mut elements.iter().map(size)),
        DocumentNode::Mapping(members) => sum(&mut members.iter().map(|(name, value)| {
            let (bytes, levels) = size(value);
            (bytes + own + name.len(), levels)
        })),
    }
}

/// Own members take precedence over merged ones, and earlier merges over later ones.
fn merge(members: &mut Mapping, value: DocumentNode, line: usize) -> Result<(), YamlError> {
    match value {
        DocumentNode::Mapping(more) => {
            for (name, value) in more {
                members.entry(name).or_insert(value);
            }
            Ok(())
        }
        DocumentNode::Sequence(several) => several.into_iter().try_for_each(|one| match one {
            DocumentNode::Mapping(_) => merge(members, one, line),
            DocumentNode::Scalar(_) | DocumentNode::Sequence(_) => YamlFault::Merge.at(line),
        }),
        DocumentNode::Scalar(_) => YamlFault::Merge.at(line),
    }
}

/// A tag takes precedence over the style of a scalar.
fn is_plain(style: ScalarStyle, tag: Option<&Tag>) -> bool {
    match tag {
        None => style == ScalarStyle::Plain,
        Some(tag) => {
            ["null", "bool", "int", "float"].into_iter().any(|kind| tag.is_yaml_core_schema_tag(kind))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn json(text: &str) -> String {
        read(text).unwrap().to_string()
    }

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn names_keep_their_spelling_and_values_are_of_the_core_schema() {
        let text =
            "y: no\nn: NO\non: off\n1: 01234\n0x1f: 0x1f\n~: ~\nnull:\ntrue: 'true'\n1.10: 1.10\n: |\n  a\n";
        let expected = r#"{"y":"no","n":"NO","on":"off","1":1234,"0x1f":31,"~":null,"null":null,"true":"true","1.10":1.10,"":"a\n"}"#;
        assert_eq!(json(text), expected);
        assert_eq!(
            json("[!!str 1, ! 2, !!int '3', !own 4, \"5\", !!binary aGk=, !!float 6]"),
            r#"["1","2",3,"4","5","aGk=",6]"#
        );
        assert_eq!(json("%YAML 1.1\n---\n- yes\n- 010\n"), r#"["yes",10]"#, "OpenAPI asks for YAML 1.2");
    }

    #[test]
    fn aliases_repeat_and_mappings_merge() {
        assert_eq!(
            json("a: &a {x: 1}\nb: *a\nc: &c d\n*c : 2\n"),
            r#"{"a":{"x":1},"b":{"x":1},"c":"d","d":2}"#
        );
        let merged =
            "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: *a, y: 0}\nd: {<<: [*a, *b]}\ne: {'<<': 1}\n";
        assert!(
            json(merged).ends_with(r#""c":{"y":0,"x":1},"d":{"x":1,"y":2,"z":4},"e":{"<<":1}}"#),
            "{}",
            json(merged)
        );
    }

    #[test]
    fn what_is_no_document_is_refused_with_its_line() {
        assert_eq!(error("a: 1\nb:\n  c: 1\n  c: 2\n"), "line 4: the name \"c\" is there twice");
        assert_eq!(error("{\"a\": 1,\n \"a\": 2}"), "line 2: the name \"a\" is there twice");
        assert_eq!(error("a: 1\n? [b]\n: 2\n"), "line 2: the name of a member is a list or a mapping");
        assert_eq!(error("a: 1\n<<: 2\n"), "line 2: \"<<\" needs a mapping, or a list of them");
        assert_eq!(error("a: 1\n---\nb: 2\n"), "line 2: a second document begins");
        assert!(error("# nothing\n").ends_with(": there is nothing in it"), "{}", error("# nothing\n"));
        assert_eq!(error("a: &a\n  - *a\n"), "line 2: an alias stands in what it repeats");
        for text in ["a: [", "a: *b", "a: b: c", "{\"a\": 1"] {
            assert!(error(text).starts_with("line 1: "), "{}", error(text));
            assert!(!error(text).contains('\n'));
        }
    }

    #[test]
    fn a_bomb_and_a_pit_are_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb += &format!("a{level}: &a{level} [{aliases}]\n");
        }
        assert!(error(&bomb).ends_with("aliases repeat more than 64 MB"), "{}", error(&bomb));
        let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read(&deep(DEPTH_MAX - 1)).is_ok());
        assert!(error(&deep(DEPTH_MAX)).contains("nested more than 200 deep"), "{}", error(&deep(DEPTH_MAX)));
        assert!(read(&deep(100_000)).is_err());
        // Aliases can nest deeper than the text itself.
        let mut stairs = "a0: &a0 [x]\n".to_owned();
        for step in 1..1_000 {
            stairs += &format!("a{step}: &a{step} [*a{}]\n", step - 1);
        }
        assert!(error(&stairs).contains("nested more than 200 deep"), "{}", error(&stairs));
    }

    #[test]
    fn json_is_read_whole() {
        let long = "k".repeat(5_000);
        for value in [
            json!({"a/b": [1, -2.5e-7, null, true, "é𝄞\u{7f}\u{92}\u{ffff}\u{0}\t\"\\"], "": {}, long: []}),
            json!("# no comment: [a, b]"),
            json!(["- a", "a: b", "*a", "&a", "!a", "---", "...", "%YAML", "a #b"]),
        ] {
            assert_eq!(read(&value.to_string()).unwrap().value(), value);
            assert_eq!(read(&format!("{value:#}")).unwrap().value(), value);
            assert_eq!(read(&format!("{value:#}").replace("  ", "\t")).unwrap().value(), value, "tabs");
        }
        assert_eq!(
            json("{\"a\":1.10,\"b\":12345678901234567890123}"),
            "{\"a\":1.10,\"b\":12345678901234567890123}"
        );
        assert_eq!(json(r#"["\/\u00e9\ud834\udd1e"]"#), "[\"/é𝄞\"]");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e9..1e9).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_json_is_yaml(value in any_json(), is_pretty in any::<bool>()) {
            let text = if is_pretty { format!("{value:#}") } else { value.to_string() };
            let node = read(&text).unwrap();
            prop_assert_eq!(node.value(), value);
            prop_assert_eq!(read(&node.to_string()).unwrap(), node);
        }

        #[test]
        fn any_text_is_read_or_refused_in_one_line(text in "([-?:,\\[\\]{}#&*!|>'\"%a1 ~<]|\n|<<: |- |a: ){0,24}") {
            if let Err(error) = read(&text) {
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
            }
        }
    }
}
