//! Checks whether a text is JSON equal to a known value, without building a value from the text. For a list
//! of fifty objects that saves the memory of five hundred strings, and most of the time.
//!
//! Most servers write the members of an object in the order of the contract, without white space. So the
//! bytes of that text are compared first; otherwise the text is compared with the value while it is parsed. A
//! positive answer is certain. After a negative one the text must be parsed in full, because it may be wrong
//! or have a duplicate key.

mod row;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use row::{Member, Node, Row};

/// For objects with more members than this, the check does not track which members were seen.
const MEMBERS_MAX: usize = u64::BITS as usize;

/// A JSON value, and the text that most servers make of it.
#[derive(Debug, Clone)]
pub struct KnownJson {
    value: Value,
    text: Vec<u8>,
    row: Row,
}

impl KnownJson {
    /// A check for texts equal to this value.
    #[must_use]
    pub fn new(value: Value) -> KnownJson {
        let text = value.to_string().into_bytes();
        KnownJson { text, row: Row::of(&value), value }
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The value's text: members in their order, without white space.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The memory it takes in addition to the value.
    #[must_use]
    pub fn bytes_beside_value(&self) -> usize {
        self.text.len() + self.row.bytes()
    }

    pub(crate) fn accepts(&self, got: &[u8]) -> bool {
        // Encoders that write to a stream end with a new line.
        let is_text = |got: &[u8]| got.strip_prefix(&*self.text).is_some_and(is_white_space);
        is_text(got)
            || is_surely(&self.row, got)
            || serde_json::from_slice(got).is_ok_and(|got: Value| got == self.value)
    }
}

/// Whether the text is JSON white space only; ASCII white space has more characters.
fn is_white_space(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// Two texts may represent one value, because members have no order.
impl PartialEq for KnownJson {
    fn eq(&self, other: &KnownJson) -> bool {
        self.value == other.value
    }
}

/// Whether `text` is certainly equal to the value of `row`.
fn is_surely(row: &Row, text: &[u8]) -> bool {
    let mut reader = serde_json::Deserializer::from_slice(text);
    Right { row, at: 0 }.deserialize(&mut reader).is_ok() && reader.end().is_ok()
}

/// Parses a value equal to the one at this place, and fails for any other.
#[derive(Clone, Copy)]
struct Right<'a> {
    row: &'a Row,
    at: usize,
}

impl<'a> Right<'a> {
    fn node(self) -> &'a Node {
        self.row.node(self.at)
    }

    fn equals<E: Error>(self, is_equal: bool) -> Result<(), E> {
        if is_equal { Ok(()) } else { Err(E::custom("another value")) }
    }

    fn is_number(self, got: Option<Number>) -> bool {
        matches!(self.node(), Node::Number(right) if got.as_ref() == Some(right))
    }
}

impl<'de> DeserializeSeed<'de> for Right<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Right<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value that is known")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.equals(matches!(self.node(), Node::Null))
    }

    fn visit_bool<E: Error>(self, got: bool) -> Result<(), E> {
        self.equals(matches!(self.node(), Node::Bool(right) if *right == got))
    }

    fn visit_u64<E: Error>(self, got: u64) -> Result<(), E> {
        self.equals(self.is_number(Some(got.into())))
    }

    fn visit_i64<E: Error>(self, got: i64) -> Result<(), E> {
        self.equals(self.is_number(Some(got.into())))
    }

    fn visit_f64<E: Error>(self, got: f64) -> Result<(), E> {
        self.equals(self.is_number(Number::from_f64(got)))
    }

    fn visit_str<E: Error>(self, got: &str) -> Result<(), E> {
        self.equals(self.row.is_text(self.at, got))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut got: A) -> Result<(), A::Error> {
        let Node::Array { after } = *self.node() else { return self.equals(false) };
        let mut at = self.at + 1;
        while at < after {
            let came = got.next_element_seed(Right { at, ..self })?;
            self.equals(came.is_some())?;
            at = self.row.after(at);
        }
        let more = got.next_element::<IgnoredAny>()?;
        self.equals(more.is_none())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut got: A) -> Result<(), A::Error> {
        let Node::Object { members, .. } = *self.node() else { return self.equals(false) };
        self.equals(members <= MEMBERS_MAX)?;
        let (mut came, mut next) = (0_u64, Member { place: 0, at: self.at + 1 });
        while let Some(member) = got.next_key_seed(Name { of: self, next })? {
            self.equals(came & (1 << member.place) == 0)?;
            came |= 1 << member.place;
            got.next_value_seed(Right { at: member.at + 1, ..self })?;
            next = self.row.next(member);
        }
        self.equals(came.count_ones() as usize == members)
    }
}

/// Reads the name of a member.
struct Name<'a> {
    of: Right<'a>,
    /// The member to try first: most servers write members in the order of the contract.
    next: Member,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Member;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Member, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E: Error>(self, got: &str) -> Result<Member, E> {
        let Right { row, at } = self.of;
        row.member(at, got, self.next).ok_or_else(|| E::custom("another member"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn surely(right: &Value, text: &[u8]) -> bool {
        is_surely(&Row::of(right), text)
    }

    #[test]
    fn order_and_white_space_do_not_matter_and_everything_else_does() {
        let right = json!({"a": [1, -2, 2.5, "é\n", null, true, {}], "b": {"c": []}});
        let row = Row::of(&right);
        let is_surely = |text: &str| is_surely(&row, text.as_bytes());
        assert!(is_surely(r#"{"a":[1,-2,2.5,"é\n",null,true,{}],"b":{"c":[]}}"#));
        assert!(is_surely(r#" { "b" : {"c":[ ]}, "a":[1,-2,2.50,"\u00e9\u000a",null,true,{ }] } "#));
        for other in [
            r#"{"a":[1,-2,2.5,"é\n",null,true,{}]}"#,
            r#"{"a":[1,-2,2.5,"é\n",null,true,{}],"b":{"c":[]},"d":1}"#,
            r#"{"a":[1,-2,2.5,"é\n",null,true,{}],"a":[1,-2,2.5,"é\n",null,true,{}]}"#,
            r#"{"a":[1.0,-2,2.5,"é\n",null,true,{}],"b":{"c":[]}}"#,
            r#"{"a":[1,-2,2.5,"é\n",null,true],"b":{"c":[]}}"#,
            r#"{"a":[1,-2,2.5,"é\n",null,true,{},{}],"b":{"c":[]}}"#,
            r#"{"a":[1,-2,2.5,"é\n",null,true,{}],"b":{"c":[]}}}"#,
            r#"{"a":[1,-2,2.5,"é\n",null,true,{}],"b":{"c":[]}"#,
            "",
        ] {
            assert!(!is_surely(other), "{other}");
        }
        assert!(!surely(&json!("a"), b"null") && !surely(&json!(1), b"\xff"));
    }

    #[test]
    fn of_what_has_a_name_twice_nothing_is_certain() {
        assert!(!surely(&json!({"a": 1}), br#"{"a":1,"a":1}"#));
        assert!(!surely(&json!({"a": 1}), br#"{"a":2,"a":1}"#));
        assert!(!surely(&json!({"a": 1, "b": 2}), br#"{"a":1,"a":1}"#));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3_i64..3).prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            prop::num::f64::NORMAL.prop_map(Value::from),
            "[a-b\"é]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let members = prop::collection::vec(("[ab]{1,2}", inner.clone()), 0..4);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Value::from),
                members.prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    #[test]
    fn a_known_value_accepts_its_text_and_others_of_it() {
        let known = KnownJson::new(json!({"a": [1, "é"], "b": null}));
        assert_eq!(known.text(), r#"{"a":[1,"é"],"b":null}"#.as_bytes());
        assert!(known.accepts(known.text()) && known.accepts(br#"{"b":null, "a":[1,"\u00e9"]}"#));
        assert!(!known.accepts(br#"{"a":[1,"e"],"b":null}"#));
        let followed_by = |more: &str| known.accepts(&[known.text(), more.as_bytes()].concat());
        assert!(followed_by("\n") && followed_by(" \t\r\n"));
        assert!(!followed_by("\u{c}") && !followed_by("}") && !followed_by("\n1"));
        assert_eq!(known, KnownJson::new(json!({"b": null, "a": [1, "é"]})));
    }

    proptest! {
        #[test]
        fn what_is_certain_is_equal(right in value(), other in value()) {
            prop_assert_eq!(surely(&right, other.to_string().as_bytes()), right == other);
        }

        #[test]
        fn an_equal_value_is_certain(right in value()) {
            let pretty = serde_json::to_string_pretty(&right).unwrap();
            prop_assert!(surely(&right, pretty.as_bytes()));
        }

        #[test]
        fn no_bytes_are_too_much(right in value(), text in prop::collection::vec(any::<u8>(), 0..40)) {
            let got = serde_json::from_slice::<Value>(&text);
            prop_assert!(!surely(&right, &text) || got.unwrap() == right);
        }
    }
}
