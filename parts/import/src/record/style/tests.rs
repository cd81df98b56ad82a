use proptest::prelude::*;

use super::*;
use crate::record::{node::percent_decoded, yaml};

fn written(style: &str, explode: bool, place: ParameterPlace, value: &str) -> Result<String, StyleError> {
    let of = yaml::read(&format!("{{style: {style}, explode: {explode}}}")).unwrap();
    Serialisation::of(&of, place)?.write("color", &yaml::read(value).unwrap())
}

#[test]
fn the_table_of_the_specification_is_kept() {
    let values = ["''", "blue", "[blue, black, brown]", "{R: 100, G: 200, B: 150}"];
    let (path, query) = (ParameterPlace::Path, ParameterPlace::Query);
    for (style, explode, place, expected) in [
        (
            "matrix",
            false,
            path,
            [";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"],
        ),
        (
            "matrix",
            true,
            path,
            [";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"],
        ),
        ("label", false, path, [".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"]),
        ("label", true, path, [".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"]),
        ("simple", false, path, ["", "blue", "blue,black,brown", "R,100,G,200,B,150"]),
        ("simple", true, ParameterPlace::Header, ["", "blue", "blue,black,brown", "R=100,G=200,B=150"]),
        ("form", false, query, ["color=", "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"]),
        (
            "form",
            true,
            query,
            ["color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"],
        ),
        (
            "spaceDelimited",
            false,
            query,
            ["color=", "color=blue", "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"],
        ),
        (
            "pipeDelimited",
            false,
            query,
            ["color=", "color=blue", "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"],
        ),
    ] {
        for (value, expected) in values.iter().zip(expected) {
            assert_eq!(
                written(style, explode, place, value).as_deref(),
                Ok(expected),
                "{style} {explode} {value}"
            );
        }
    }
    for explode in [false, true] {
        let deep = written("deepObject", explode, query, values[3]);
        assert_eq!(deep.as_deref(), Ok("color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"));
    }
    let list = written("spaceDelimited", true, query, values[2]);
    assert_eq!(
        list.as_deref(),
        Ok("color=blue&color=black&color=brown"),
        "as `form`, which OpenAPI 3.0 says"
    );
}

#[test]
fn what_has_no_value_is_as_rfc_6570_says() {
    for (style, place, null, empty) in [
        ("matrix", ParameterPlace::Path, ";color", ""),
        ("label", ParameterPlace::Path, ".", ""),
        ("simple", ParameterPlace::Path, "", ""),
        ("form", ParameterPlace::Query, "color=", ""),
    ] {
        for explode in [false, true] {
            assert_eq!(written(style, explode, place, "null").as_deref(), Ok(null), "{style}");
            assert_eq!(written(style, explode, place, "[]").as_deref(), Ok(empty), "{style}");
            assert_eq!(written(style, explode, place, "{}").as_deref(), Ok(empty), "{style}");
            assert_eq!(written(style, explode, place, "[null]").as_deref(), Ok(empty), "{style}");
        }
    }
    assert_eq!(
        written("form", false, ParameterPlace::Query, "['', a, null, '']").as_deref(),
        Ok("color=,a,")
    );
    assert_eq!(written("deepObject", true, ParameterPlace::Query, "{a: null}").as_deref(), Ok(""));
}

#[test]
fn objects_in_objects_are_in_brackets_and_in_no_other_style() {
    let nested = "{created: {gte: 1}, expand: [a b, c], price: {tiers: [{up_to: 5}]}}";
    assert_eq!(
        written("deepObject", true, ParameterPlace::Query, nested).unwrap(),
        "color%5Bcreated%5D%5Bgte%5D=1&color%5Bexpand%5D%5B0%5D=a%20b&color%5Bexpand%5D%5B1%5D=c\
         &color%5Bprice%5D%5Btiers%5D%5B0%5D%5Bup_to%5D=5"
    );
    let error = |style, explode, place, value| written(style, explode, place, value).unwrap_err().to_string();
    assert_eq!(
        error("form", true, ParameterPlace::Query, nested),
        "is a list or an object within another, for which OpenAPI does not define the style \"form\""
    );
    assert_eq!(written("deepObject", true, ParameterPlace::Query, "[a]").as_deref(), Ok("color%5B0%5D=a"));
    assert!(error("deepObject", true, ParameterPlace::Query, "a").starts_with("is no object, for which"));
    assert!(
        error("pipeDelimited", true, ParameterPlace::Query, "{a: b}")
            .starts_with("is an object that is exploded")
    );
    assert!(
        error("tree", true, ParameterPlace::Query, "a")
            .contains("the style \"tree\", which OpenAPI does not define")
    );
    assert!(error("matrix", true, ParameterPlace::Query, "a").contains("is for no parameter of the query"));
    assert!(error("form", true, ParameterPlace::Path, "a").contains("is for no parameter of the path"));
}

#[test]
fn what_could_not_be_read_back_is_refused() {
    for (style, explode, place, value) in [
        ("spaceDelimited", false, ParameterPlace::Query, "[a b, c]"),
        ("pipeDelimited", false, ParameterPlace::Query, "['a|b']"),
        ("label", true, ParameterPlace::Path, "[1.10, 2]"),
        ("simple", false, ParameterPlace::Header, "['a,b']"),
        ("simple", true, ParameterPlace::Header, "{'a=b': c}"),
    ] {
        let error = written(style, explode, place, value).unwrap_err();
        assert!(matches!(error, StyleError::Delimiter { .. }), "{error}");
    }
    assert_eq!(
        written("simple", false, ParameterPlace::Header, "'a, b; c=\"é\"'").unwrap(),
        "a, b; c=\"é\"",
        "one text"
    );
}

#[test]
fn what_is_reserved_stays_where_it_may() {
    let of = yaml::read("allowReserved: true").unwrap();
    let write = |place, value: &str| {
        Serialisation::of(&of, place).unwrap().write("a/b", &DocumentNode::text(value)).unwrap()
    };
    assert_eq!(write(ParameterPlace::Query, "/x:y?@z,%2F%zz"), "a%2Fb=/x:y?@z,%2F%25zz");
    assert_eq!(
        write(ParameterPlace::Query, "a&b=c+d#e[0] é"),
        "a%2Fb=a%26b%3Dc%2Bd%23e%5B0%5D%20%C3%A9",
        "they would end the value"
    );
    assert_eq!(write(ParameterPlace::Path, "/x"), "%2Fx", "it is for queries");
}

/// Each style, and whether a list repeats the name (explode) or joins its values.
const READABLE: [(&str, bool, ParameterPlace); 11] = [
    ("matrix", false, ParameterPlace::Path),
    ("matrix", true, ParameterPlace::Path),
    ("label", false, ParameterPlace::Path),
    ("label", true, ParameterPlace::Path),
    ("simple", false, ParameterPlace::Path),
    ("simple", true, ParameterPlace::Path),
    ("form", false, ParameterPlace::Query),
    ("form", true, ParameterPlace::Query),
    ("spaceDelimited", false, ParameterPlace::Query),
    ("pipeDelimited", false, ParameterPlace::Query),
    ("deepObject", true, ParameterPlace::Query),
];

fn decoded(text: &str) -> String {
    percent_decoded(text).unwrap()
}

/// Names and values as a server parses them; `name` is used for values without one.
fn read(style: &str, explode: bool, text: &str, is_object: bool) -> Vec<(String, String)> {
    let (first, separator, is_named) = match style {
        "matrix" => (";", ";", true),
        "label" => (".", ".", false),
        "simple" => ("", ",", false),
        _ => ("", "&", true),
    };
    let text = text.strip_prefix(first).unwrap();
    let split = |text: &str| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        (decoded(name), decoded(value))
    };
    if style == "deepObject" {
        let inner = |name: String| name["color[".len()..name.len() - 1].to_owned();
        return text.split('&').map(split).map(|(name, value)| (inner(name), value)).collect();
    }
    if explode {
        let pieces = text.split(separator);
        return match is_object || is_named {
            true => pieces.map(split).collect(),
            false => pieces.map(|value| ("color".to_owned(), decoded(value))).collect(),
        };
    }
    let text = if is_named { text.strip_prefix("color").unwrap().trim_start_matches('=') } else { text };
    let delimiter = match style {
        "spaceDelimited" => "%20",
        "pipeDelimited" => "%7C",
        _ => ",",
    };
    let values: Vec<String> = text.split(delimiter).map(decoded).collect();
    match is_object {
        true => values.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect(),
        false => values.into_iter().map(|value| ("color".to_owned(), value)).collect(),
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        (style, explode, place) in prop::sample::select(&READABLE[..]),
        texts in prop::collection::vec("([a-c]|[ ,;.&=|%/+#\\[\\]~é]){0,6}", 1..4),
        names in prop::collection::btree_set("([a-c]|[ ,;.&=|%/+#~é]){1,6}", 1..4),
    ) {
        let of = yaml::read(&format!("{{style: {style}, explode: {explode}}}")).unwrap();
        let serialisation = Serialisation::of(&of, place).unwrap();
        let pairs: Vec<(String, String)> = names.iter().cloned().zip(texts.iter().cloned()).collect();
        let members = pairs.iter().map(|(name, text)| (name.clone(), DocumentNode::text(text)));
        let object = DocumentNode::Mapping(members.collect());
        let list = DocumentNode::Sequence(texts.iter().map(DocumentNode::text).collect());
        let listed = texts.iter().map(|text| ("color".to_owned(), text.clone())).collect();
        for (value, is_object, expected) in [(object, true, pairs), (list, false, listed)] {
            let expected = match style == "deepObject" && !is_object {
                true => (0..).zip(expected).map(|(place, (_, value))| (place.to_string(), value)).collect(),
                false => expected,
            };
            match serialisation.write("color", &value) {
                Ok(text) => prop_assert_eq!(read(style, explode, &text, is_object), expected, "{}", text),
                Err(StyleError::Delimiter { .. }) => {
                    let held = match style { "spaceDelimited" => ' ', "pipeDelimited" => '|', _ => '.' };
                    let all = || names.iter().chain(&texts).any(|text| text.contains(held));
                    prop_assert!(all(), "{:?} is refused without a reason", value);
                }
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }

    #[test]
    fn one_value_is_read_back(
        (style, explode, place) in prop::sample::select(&READABLE[..10]),
        text in any::<String>(),
    ) {
        let of = yaml::read(&format!("{{style: {style}, explode: {explode}}}")).unwrap();
        let written = Serialisation::of(&of, place).unwrap().write("color", &DocumentNode::text(&text)).unwrap();
        let bare = match style {
            "matrix" => written.strip_prefix(";color").unwrap().trim_start_matches('='),
            "label" => &written[1..],
            "simple" => &written,
            _ => written.strip_prefix("color=").unwrap(),
        };
        prop_assert_eq!(decoded(bare), text);
        prop_assert!(written.bytes().all(|byte| byte.is_ascii_graphic()));
    }

    #[test]
    fn a_text_with_reserved_characters_is_read_back(text in "([a-c]|[ ,;.&=|/+#\\[\\]~é]){0,9}") {
        let of = yaml::read("allowReserved: true").unwrap();
        let serialisation = Serialisation::of(&of, ParameterPlace::Query).unwrap();
        let written = serialisation.write("q", &DocumentNode::text(&text)).unwrap();
        prop_assert_eq!(decoded(written.strip_prefix("q=").unwrap()), text);
        prop_assert!(!written.contains(['#', '&', '+', '[', ']', ' ']), "{}", written);
    }
}
