//! What several JSON values have in common, as a pattern: equal parts stay, and a wildcard takes the place of what varies.

use serde_json::{Map, Value};
use tare_load::pattern::{JsonPattern, Wildcard};

/// From the narrowest to the widest: the first that takes all values is learned. A whole number is learned as a number, since the
/// next one may have a fraction, as a price has.
const NARROWEST_FIRST: [Wildcard; 5] =
    [Wildcard::Uuid, Wildcard::Timestamp, Wildcard::Bool, Wildcard::Number, Wildcard::Text];

/// What is common to several answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Common {
    pub value: Value,
    /// Whether an object had a member in one answer that it had not in another.
    pub extra: bool,
}

impl Common {
    pub(super) fn pattern(&self) -> JsonPattern {
        JsonPattern::new(self.value.clone(), self.extra)
    }
}

/// The pattern that takes all these answers; absent if there is none, or if only their being JSON is common.
pub(super) fn pattern_of(answers: &[Value]) -> Option<Common> {
    let mut extra = false;
    let value = common(&answers.iter().collect::<Vec<_>>(), &mut extra)?;
    (value != wild(Wildcard::Any)).then_some(Common { value, extra })
}

fn common(values: &[&Value], extra: &mut bool) -> Option<Value> {
    let (first, rest) = values.split_first()?;
    if rest.iter().all(|value| value == first) {
        return Some((*first).clone());
    }
    if let Some(objects) = values.iter().map(|value| value.as_object()).collect::<Option<Vec<_>>>() {
        return members(&objects, extra);
    }
    if let Some(arrays) = values.iter().map(|value| value.as_array()).collect::<Option<Vec<_>>>() {
        return elements(&arrays, extra);
    }
    let takes_all = |wildcard: &Wildcard| values.iter().all(|value| wildcard.accepts(value));
    Some(wild(NARROWEST_FIRST.into_iter().find(takes_all).unwrap_or(Wildcard::Any)))
}

fn members(objects: &[&Map<String, Value>], extra: &mut bool) -> Option<Value> {
    let first = objects.first()?;
    let mut found = Map::new();
    for name in first.keys() {
        let values: Vec<&Value> = objects.iter().filter_map(|object| object.get(name)).collect();
        if values.len() == objects.len() {
            found.insert(name.clone(), common(&values, extra)?);
        }
    }
    *extra |= objects.iter().any(|object| object.len() != found.len());
    Some(Value::Object(found))
}

fn elements(arrays: &[&Vec<Value>], extra: &mut bool) -> Option<Value> {
    let length = arrays.first()?.len();
    if arrays.iter().any(|array| array.len() != length) {
        return Some(wild(Wildcard::Any));
    }
    let element = |place: usize| {
        let values: Vec<&Value> = arrays.iter().map(|array| &array[place]).collect();
        common(&values, extra)
    };
    (0..length).map(element).collect::<Option<Vec<_>>>().map(Value::Array)
}

/// The value with a wildcard for each string that is an identifier or an instant by its form.
pub(super) fn without_moments(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(without_moments).collect(),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, value)| (name, without_moments(value))).collect())
        }
        value => {
            let wildcard =
                [Wildcard::Uuid, Wildcard::Timestamp].into_iter().find(|kind| kind.accepts(&value));
            wildcard.map_or(value, wild)
        }
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

    #[test]
    fn what_varies_is_a_wildcard_of_its_type() {
        let answers = [
            json!({"id": 1, "at": "2026-11-23T12:00:00Z", "name": "a", "ok": true, "rate": 1, "same": [1, "x"],
                   "key": "0b9ff8aa-3d1c-4d3e-9f00-000000000001", "odd": 1, "list": [1], "once": 1}),
            json!({"id": 2, "at": "2026-11-23T12:00:01Z", "name": "b", "ok": false, "rate": 1.5, "same": [1, "x"],
                   "key": "0b9ff8aa-3d1c-4d3e-9f00-000000000002", "odd": null, "list": []}),
        ];
        let found = pattern_of(&answers).unwrap();
        let pattern = json!({
            "id": "{{any:number}}", "at": "{{any:timestamp}}", "name": "{{any:string}}", "ok": "{{any:bool}}",
            "rate": "{{any:number}}", "same": [1, "x"], "key": "{{any:uuid}}", "odd": "{{any}}", "list": "{{any}}"
        });
        assert_eq!(found, Common { value: pattern, extra: true });
    }

    #[test]
    fn nothing_in_common_is_no_pattern() {
        assert_eq!(pattern_of(&[json!(1), json!("a")]), None);
        assert_eq!(pattern_of(&[]), None);
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
            if let Some(found) = pattern_of(&answers) {
                for answer in &answers {
                    prop_assert_eq!(found.pattern().differences(answer), Vec::<String>::new());
                }
            }
        }
    }
}
