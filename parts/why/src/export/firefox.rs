//! The format of Firefox Profiler: its processed profile, which its page upgrades from any older version.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use tare_analysis::why::WhyReport;

use super::Frames;

/// The version of the format: the last one in which each thread has tables of its own.
const VERSION: u32 = 48;
/// The same of the format of Firefox itself, which every profile says.
const GECKO_VERSION: u32 = 29;

/// A profile with a thread for each service, whose weights are the time of a request.
pub fn firefox(report: &WhyReport) -> Value {
    let threads: Vec<Value> = (0..report.subjects.len()).map(|place| thread(report, place)).collect();
    json!({
        "meta": {
            "interval": 1,
            "startTime": 0,
            "processType": 0,
            "product": "tare",
            "stackwalk": 1,
            "version": GECKO_VERSION,
            "preprocessedProfileVersion": VERSION,
            "symbolicated": true,
            "categories": [{ "name": "Other", "color": "grey", "subcategories": ["Other"] }],
            "markerSchema": [],
            "extensions": { "id": [], "name": [], "baseURL": [], "length": 0 },
            "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "µs" },
        },
        "libs": [],
        "pages": [],
        "threads": threads,
    })
}

/// A stack for each way of calling a function: its caller's stack, and its frame.
#[derive(Debug, Default)]
struct StackTable {
    prefixes: Vec<Option<usize>>,
    frames: Vec<usize>,
    places: HashMap<(Option<usize>, usize), usize>,
}

impl StackTable {
    fn place(&mut self, stack: &[usize]) -> Option<usize> {
        stack.iter().fold(None, |prefix, frame| {
            let StackTable { prefixes, frames, places } = self;
            Some(*places.entry((prefix, *frame)).or_insert_with(|| {
                prefixes.push(prefix);
                frames.push(*frame);
                frames.len() - 1
            }))
        })
    }
}

fn thread(report: &WhyReport, place: usize) -> Value {
    let mut table = StackTable::default();
    let seen: Vec<(Option<usize>, f64)> = report
        .stacks
        .iter()
        .filter(|stack| stack.ns[place] > 0.0)
        .map(|stack| (table.place(&stack.frames), stack.ns[place] / 1e6))
        .collect();
    let stacks = table.frames.len();
    let mut thread = functions(report);
    let own = json!({
        "processType": "default",
        "processName": report.subjects[place].label,
        "processStartupTime": 0,
        "processShutdownTime": null,
        "registerTime": 0,
        "unregisterTime": null,
        "pausedRanges": [],
        "name": report.subjects[place].label,
        "isMainThread": true,
        "pid": place.to_string(),
        "tid": place,
        "samples": {
            "length": seen.len(),
            "stack": seen.iter().map(|(stack, _)| stack).collect::<Vec<_>>(),
            "time": (0..seen.len()).collect::<Vec<_>>(),
            "weight": seen.iter().map(|(_, ms)| ms).collect::<Vec<_>>(),
            "weightType": "tracing-ms",
        },
        "markers": { "length": 0, "data": [], "name": [], "startTime": [], "endTime": [], "phase": [], "category": [] },
        "stackTable": {
            "length": stacks,
            "frame": table.frames,
            "prefix": table.prefixes,
            "category": vec![0; stacks],
            "subcategory": vec![0; stacks],
        },
    });
    thread.append(&mut object(own));
    Value::Object(thread)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// The tables of functions, each of which has one frame.
fn functions(report: &WhyReport) -> Map<String, Value> {
    let count = report.frames.len();
    let frames = Frames::of(report);
    let mut texts: Vec<&str> = report.frames.iter().map(String::as_str).collect();
    let (mut files, mut lines) = (Vec::new(), Vec::new());
    for name in &report.frames {
        let (file, line) = frames.place(name);
        files.push((!file.is_empty()).then_some(texts.len()));
        if !file.is_empty() {
            texts.push(file);
        }
        lines.push((line > 0).then_some(line));
    }
    object(json!({
        "frameTable": {
            "length": count,
            "address": vec![-1; count],
            "inlineDepth": vec![0; count],
            "category": vec![0; count],
            "subcategory": vec![0; count],
            "func": (0..count).collect::<Vec<_>>(),
            "nativeSymbol": vec![Value::Null; count],
            "innerWindowID": vec![0; count],
            "implementation": vec![Value::Null; count],
            "line": lines,
            "column": vec![Value::Null; count],
        },
        "funcTable": {
            "length": count,
            "name": (0..count).collect::<Vec<_>>(),
            "isJS": vec![false; count],
            "relevantForJS": vec![false; count],
            "resource": vec![-1; count],
            "fileName": files,
            "lineNumber": lines,
            "columnNumber": vec![Value::Null; count],
        },
        "resourceTable": { "length": 0, "lib": [], "name": [], "host": [], "type": [] },
        "nativeSymbols": { "length": 0, "libIndex": [], "address": [], "name": [], "functionSize": [] },
        "stringArray": texts,
    }))
}

#[cfg(test)]
mod tests {
    use super::{super::tests::report, *};

    #[test]
    fn tables_have_the_length_that_they_say_and_places_that_are_there() {
        let found = firefox(&report());
        assert_eq!(found["threads"].as_array().unwrap().len(), 2);
        for thread in found["threads"].as_array().unwrap() {
            let tables =
                thread.as_object().unwrap().iter().filter(|(_, table)| table.get("length").is_some());
            for (name, table) in tables {
                let length = table["length"].as_u64().unwrap() as usize;
                let columns = table
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter(|(key, _)| !["length", "weightType"].contains(&key.as_str()));
                columns.for_each(|(key, column)| {
                    assert_eq!(column.as_array().map(Vec::len), Some(length), "{name}.{key}")
                });
            }
            let within = |table: &str, column: &str, of: usize| {
                let places = thread[table][column].as_array().unwrap().iter().filter_map(Value::as_u64);
                places.for_each(|place| assert!((place as usize) < of, "{table}.{column}: {place}"));
            };
            let length = |table: &str| thread[table]["length"].as_u64().unwrap() as usize;
            within("samples", "stack", length("stackTable"));
            within("stackTable", "prefix", length("stackTable"));
            within("stackTable", "frame", length("frameTable"));
            within("frameTable", "func", length("funcTable"));
            let texts = thread["stringArray"].as_array().unwrap().len();
            within("funcTable", "name", texts);
            within("funcTable", "fileName", texts);
        }
    }

    #[test]
    fn each_service_is_a_thread_whose_weights_are_its_time() {
        let found = firefox(&report());
        let [old, new] = [0, 1].map(|place| &found["threads"][place]);
        assert_eq!((&old["name"], &old["samples"]["weight"]), (&json!("old"), &json!([0.00001])));
        // `main`, and what it calls.
        assert_eq!(
            (&new["samples"]["stack"], &new["stackTable"]["prefix"]),
            (&json!([1, 0]), &json!([null, 0]))
        );
        let file = new["funcTable"]["fileName"][0].as_u64().unwrap() as usize;
        assert_eq!(
            (&new["stringArray"][file], &new["funcTable"]["lineNumber"][0]),
            (&json!("src/main.c"), &json!(7))
        );
    }
}
