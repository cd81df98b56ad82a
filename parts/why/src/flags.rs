//! Variables by which runtimes name the code that they make. They are set in processes that are started to be sampled, and in no others.

use std::collections::BTreeMap;

/// The variable of a runtime, and the option in it.
const FLAGS: [(&str, &str, &str); 5] = [
    ("Node.js", "NODE_OPTIONS", "--perf-basic-prof"),
    // Frame pointers lead from compiled code to its callers. Without the rest, code between two calls counts as the method that it was
    // compiled into.
    (
        "Java",
        "JAVA_TOOL_OPTIONS",
        "-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints",
    ),
    (".NET", "DOTNET_PerfMapEnabled", "3"),
    // The same before .NET 6.
    (".NET", "COMPlus_PerfMapEnabled", "3"),
    ("Python", "PYTHONPERFSUPPORT", "1"),
];

/// Variables that hold many options.
const HAVE_MANY: [&str; 2] = ["NODE_OPTIONS", "JAVA_TOOL_OPTIONS"];

/// Adds the variables to those of a service. Options that it has itself stay.
pub fn add(variables: &mut BTreeMap<String, String>) {
    for (_, variable, option) in FLAGS {
        let has = variables.get(variable).cloned().or_else(|| std::env::var(variable).ok());
        let value = match has {
            Some(own) if HAVE_MANY.contains(&variable) && !own.is_empty() => format!("{own} {option}"),
            Some(own) if !HAVE_MANY.contains(&variable) => own,
            _ => option.to_owned(),
        };
        variables.insert(variable.to_owned(), value);
    }
}

/// How a runtime was started so that it names its code, such as `Node.js, with NODE_OPTIONS=--perf-basic-prof`.
pub(crate) fn described(runtime: &str) -> String {
    let flag = FLAGS.iter().find(|(name, ..)| *name == runtime);
    flag.map_or_else(
        || runtime.to_owned(),
        |(_, variable, option)| format!("{runtime}, with {variable}={option}"),
    )
}

/// What would give names to the code of a runtime that has none.
pub(crate) fn advice(runtime: Option<&str>) -> &'static str {
    match runtime {
        Some("Python") => "run it with Python 3.12 or later, which names them for tools on Linux",
        Some("Java") => "the memory of this JVM could not be read: tare knows HotSpot from JDK 11 on",
        Some(_) => "its runtime wrote no /tmp/perf-PID.map",
        None => "build it with symbols: without `strip`, `-s` or `-ldflags=-s -w`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_service_stay() {
        let mut variables = BTreeMap::from([("NODE_OPTIONS".to_owned(), "--no-warnings".to_owned())]);
        add(&mut variables);
        assert_eq!(variables["NODE_OPTIONS"], "--no-warnings --perf-basic-prof");
        assert_eq!(variables["PYTHONPERFSUPPORT"], "1");
        assert_eq!(described("Node.js"), "Node.js, with NODE_OPTIONS=--perf-basic-prof");
        assert_eq!(described("Ruby"), "Ruby");
        let mut variables = BTreeMap::from([("JAVA_TOOL_OPTIONS".to_owned(), "-Xmx1g".to_owned())]);
        add(&mut variables);
        assert!(variables["JAVA_TOOL_OPTIONS"].starts_with("-Xmx1g -XX:+PreserveFramePointer"));
    }
}
