//! The common part of several JSON values, as a pattern: equal parts stay, varying parts become wildcards.

use serde_json::{Map, Value};
use tare_load::pattern::{JsonPattern, Wildcard};

use super::moving::{AnswerContext, Nature, Varying, nature_of_numbers, tokens};

/// The first wildcard that matches all values is learned. Whole numbers become general numbers, since the
/// next one may have a fraction, such as a price.
const NARROWEST_FIRST: [Wildcard; 5] =
    [Wildcard::Uuid, Wildcard::Timestamp, Wildcard::Bool, Wildcard::Number, Wildcard::Text];

/// The common part of several answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Common {
    pub value: Value,
    /// Whether some objects had members that others lacked.
    pub extra: bool,
    pub varying: Vec<Varying>,
}

impl Common {
    pub(super) fn pattern(&self) -> JsonPattern {
        JsonPattern::new(self.value.clone(), self.extra)
    }
}

/// A pattern for all these answers; absent if there is none, or it would match any JSON.
pub(super) fn pattern_of(answers: &[Value], context: &AnswerContext) -> Option<Common> {
    let mut search = Search { context, extra: false, varying: Vec::new() };
    let value = search.common("$", &answers.iter().collect::<Vec<_>>())?;
    let Search { extra, varying, .. } = search;
    (value != wild(Wildcard::Any)).then_some(Common { value, extra, varying })
}

/// The wildcards of a pattern that was not learned.
pub(super) fn varying_of(pattern: &Value) -> Vec<Varying> {
    let mut found = Vec::new();
    collect("$", pattern, &mut found);
    found
}

fn collect(path: &str, pattern: &Value, found: &mut Vec<Varying>) {
    match pattern {
        Value::Array(values) => {
            (0..).zip(values).for_each(|(place, value)| collect(&format!("{path}[{place}]"), value, found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| collect(&member(path, name), value, found));
        }
        Value::String(text) => {
            let wildcard = text.parse::<Wildcard>().ok();
            found.extend(wildcard.map(|kind| Varying { place: path.to_owned(), nature: nature(kind) }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The kind of a value, from its wildcard alone.
fn nature(wildcard: Wildcard) -> Nature {
    match wildcard {
        Wildcard::Uuid => Nature::Id,
        Wildcard::Timestamp => Nature::Time,
        Wildcard::Bool => Nature::Flag,
        Wildcard::Int | Wildcard::Number => Nature::Number,
        Wildcard::Text => Nature::Text,
        Wildcard::Any | Wildcard::Array | Wildcard::Object => Nature::Any,
    }
}

struct Search<'a> {
    context: &'a AnswerContext<'a>,
    extra: bool,
    varying: Vec<Varying>,
}

impl Search<'_> {
    fn common(&mut self, path: &str, values: &[&Value]) -> Option<Value> {
        let (first, rest) = values.split_first()?;
        if let Some(objects) = values.iter().map(|value| value.as_object()).collect::<Option<Vec<_>>>() {
            return self.members(path, &objects);
        }
        if let Some(arrays) = values.iter().map(|value| value.as_array()).collect::<Option<Vec<_>>>() {
            return self.elements(path, &arrays);
        }
        let moves = self.moves(path, first);
        if moves.is_none() && rest.iter().all(|value| value == first) {
            return Some((*first).clone());
        }
        let takes_all = |wildcard: &Wildcard| values.iter().all(|value| wildcard.accepts(value));
        let wildcard = NARROWEST_FIRST.into_iter().find(takes_all).unwrap_or(Wildcard::Any);
        Some(self.wild(path, wildcard, moves.unwrap_or_else(|| self.nature(wildcard, values))))
    }

    fn wild(&mut self, path: &str, wildcard: Wildcard, nature: Nature) -> Value {
        self.varying.push(Varying { place: path.to_owned(), nature });
        wild(wildcard)
    }

    /// The kind of varying values.
    fn nature(&self, wildcard: Wildcard, values: &[&Value]) -> Nature {
        match wildcard {
            Wildcard::Number => {
                let numbers: Vec<f64> = values.iter().filter_map(|value| value.as_f64()).collect();
                nature_of_numbers(&numbers, self.context)
            }
            wildcard => nature(wildcard),
        }
    }

    /// The kind of a constant value that must be expected to change, if it must.
    fn moves(&self, path: &str, value: &Value) -> Option<Nature> {
        match value {
            Value::String(text) => tokens(text).find_map(|token| self.context.moves(&token)),
            Value::Number(number) => {
                self.context.instant(&number.to_string()).or_else(|| is_span(path).then_some(Nature::Time))
            }
            _ => None,
        }
    }

    fn members(&mut self, path: &str, objects: &[&Map<String, Value>]) -> Option<Value> {
        let first = objects.first()?;
        let mut found = Map::new();
        for name in first.keys() {
            let values: Vec<&Value> = objects.iter().filter_map(|object| object.get(name)).collect();
            if values.len() == objects.len() {
                found.insert(name.clone(), self.common(&member(path, name), &values)?);
            }
        }
        self.extra |= objects.iter().any(|object| object.len() != found.len());
        Some(Value::Object(found))
    }

    fn elements(&mut self, path: &str, arrays: &[&Vec<Value>]) -> Option<Value> {
        let length = arrays.first()?.len();
        if arrays.iter().any(|array| array.len() != length) {
            return Some(self.wild(path, Wildcard::Any, Nature::Any));
        }
        let element = |place: usize| {
            let values: Vec<&Value> = arrays.iter().map(|array| &array[place]).collect();
            self.common(&format!("{path}[{place}]"), &values)
        };
        (0..length).map(element).collect::<Option<Vec<_>>>().map(Value::Array)
    }
}

/// Whether a member's name indicates a duration or a time of day, which may be constant for long.
fn is_span(path: &str) -> bool {
    let name = path.rsplit(['.', '[']).next().unwrap_or_default().trim_matches(['"', ']']).to_lowercase();
    ["uptime", "elapsed"].iter().any(|part| name.contains(part))
        || ["minute", "minutes", "hour", "hours"].contains(&name.as_str())
}

fn member(path: &str, name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    match !name.is_empty() && name.chars().all(is_plain) {
        true => format!("{path}.{name}"),
        false => format!("{path}[{}]", Value::from(name)),
    }
}

fn wild(wildcard: Wildcard) -> Value {
    Value::from(wildcard.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const UNKNOWN: AnswerContext = AnswerContext { now: None, sent: "" };

    #[test]
    fn what_moves_is_a_wildcard_although_it_stood_still() {
        let still = json!({
            "s": 1_795_842_635, "ms": 1_795_842_635_123_u64, "minutes": 3, "uptime": 0, "born": "1984-02-28", "price": 3.5,
            "at": "2026-11-28T05:10:35Z", "clock": ["05:10", "Sat, 28 Nov 2026 05:10:35 GMT"], "id": 7, "old": 1_000_000_000,
            "key": "0b9ff8aa-3d1c-4d3e-9f00-000000000001", "hash": "d41d8cd98f00b204e9800998ecf8427e", "name": "May"
        });
        let context = AnswerContext {
            now: Some("2026-11-28T05:10:35Z".parse().unwrap()),
            sent: "/items/d41d8cd98f00b204e9800998ecf8427e",
        };
        let found = pattern_of(&[still.clone(), still], &context).unwrap();
        let pattern = json!({
            "s": "{{any:number}}", "ms": "{{any:number}}", "minutes": "{{any:number}}", "uptime": "{{any:number}}",
            "born": "1984-02-28", "price": 3.5, "at": "{{any:timestamp}}", "clock": ["{{any:string}}", "{{any:string}}"],
            "id": 7, "old": 1_000_000_000, "key": "{{any:uuid}}", "hash": "d41d8cd98f00b204e9800998ecf8427e", "name": "May"
        });
        assert_eq!((found.value, found.extra), (pattern, false));
    }

    #[test]
    fn what_varies_is_a_wildcard_of_its_type() {
        let answers = [
            json!({"id": 1, "at": "2026-11-23T12:00:00Z", "name": "a", "ok": true, "rate": 1, "same": [1, "x"],
                   "key": "0b9ff8aa-3d1c-4d3e-9f00-000000000001", "odd": 1, "list": [1], "once": 1}),
            json!({"id": 2, "at": "2026-11-23T12:00:01Z", "name": "b", "ok": false, "rate": 1.5, "same": [1, "x"],
                   "key": "0b9ff8aa-3d1c-4d3e-9f00-000000000002", "odd": null, "list": []}),
        ];
        let found = pattern_of(&answers, &UNKNOWN).unwrap();
        let pattern = json!({
            "id": "{{any:number}}", "at": "{{any:timestamp}}", "name": "{{any:string}}", "ok": "{{any:bool}}",
            "rate": "{{any:number}}", "same": [1, "x"], "key": "{{any:uuid}}", "odd": "{{any}}", "list": "{{any}}"
        });
        assert_eq!((&found.value, found.extra), (&pattern, true));
        let varying: Vec<String> = found.varying.iter().map(ToString::to_string).collect();
        let varying = varying.join(", ");
        assert_eq!(
            varying,
            "$.id (a counter), $.at (a time), $.name (a text), $.ok (true or false), $.rate (a number), $.key (an id), \
             $.odd (any value), $.list (any value)"
        );
        assert_eq!(varying_of(&pattern).len(), found.varying.len());
    }

    #[test]
    fn nothing_in_common_is_no_pattern() {
        assert_eq!(pattern_of(&[json!(1), json!("a")], &UNKNOWN), None);
        assert_eq!(pattern_of(&[], &UNKNOWN), None);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i32>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            "[a-z]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec(("[a-c]", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_pattern_takes_every_answer_that_it_was_learned_from(answers in prop::collection::vec(any_json(), 1..5)) {
            if let Some(found) = pattern_of(&answers, &UNKNOWN) {
                for answer in &answers {
                    prop_assert_eq!(found.pattern().differences(answer), Vec::<String>::new());
                }
            }
        }
    }
}
