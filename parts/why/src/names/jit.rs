//! How runtimes spell the functions that they compile: a name, and perhaps the file and line where it is.

use super::demangle::NAME_CHARS_MAX;

/// A function as its runtime names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Spelled {
    pub name: String,
    /// The assembly of .NET's own code.
    pub module: String,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// Kinds of V8's own code, which has no line.
const V8_OWN: [&str; 5] = ["Builtin:", "BytecodeHandler:", "Stub:", "RegExp:", "Code:"];
/// Kinds of V8's code of a script.
const V8_SCRIPT: [&str; 5] = ["JS:", "LazyCompile:", "Function:", "Script:", "Eval:"];

/// Whether it is code of V8 itself.
pub(super) fn is_of_v8(name: &str) -> bool {
    V8_OWN.iter().any(|kind| name.starts_with(kind))
}

/// Takes a line of a perf map apart.
pub(super) fn spelled(text: &str) -> Spelled {
    if let Some(script) = V8_SCRIPT.iter().find_map(|kind| text.strip_prefix(kind)) {
        return of_v8(script);
    }
    if let Some(python) = text.strip_prefix("py::") {
        return of_python(python);
    }
    let plain = |name: &str| Spelled { name: name.to_owned(), ..Spelled::default() };
    match is_of_v8(text) {
        true => plain(text),
        false => of_dotnet(text).unwrap_or_else(|| plain(without_tier(text))),
    }
}

/// `instance int32 [shop] Shop.Program::Sign(uint8[])[Tier1]`, with the assembly in brackets. That stands for the file, if it is not of the
/// framework: .NET names no other.
fn of_dotnet(text: &str) -> Option<Spelled> {
    let (class, method) = text.split_once("::")?;
    let (head, class) = class.rsplit_once("] ")?;
    let (_, assembly) = head.rsplit_once('[')?;
    let method = method.split_once('(').map_or(method, |(method, _)| method);
    let name = match class.split_once('[') {
        // Parameters of a generic type would leave no room for the method.
        Some((generic, _)) if class.len() + method.len() >= NAME_CHARS_MAX => format!("{generic}.{method}"),
        _ => format!("{class}.{method}"),
    };
    Some(match is_of_dotnet(assembly) {
        true => Spelled { name, module: assembly.to_owned(), ..Spelled::default() },
        false => Spelled { name, file: Some(format!("{assembly}.dll")), ..Spelled::default() },
    })
}

/// Whether an assembly, or its file, comes with .NET.
pub(super) fn is_of_dotnet(assembly: &str) -> bool {
    ["System.", "Microsoft."].iter().any(|prefix| assembly.starts_with(prefix))
}

/// `*handler file:///srv/s.js:3:19`: the first character is the compiler, and says nothing of the function.
fn of_v8(text: &str) -> Spelled {
    let text = text.trim_start_matches(['*', '~', '^', '+', '\'', ' ']);
    let (name, place) = match text.split_once(' ') {
        Some((name, place)) => (name, place),
        // A function without a name.
        None => ("", text),
    };
    let mut parts = place.rsplitn(3, ':');
    let (column, line, file) = (parts.next(), parts.next(), parts.next());
    let (file, line, column) = match (file, line.map(str::parse), column.map(str::parse::<u32>)) {
        (Some(file), Some(Ok(line)), Some(Ok(column))) => (file, Some(line), Some(column)),
        _ => (place, None, None),
    };
    let file = file.strip_prefix("file://").unwrap_or(file);
    let name = match (name, line, column) {
        ("", Some(line), Some(column)) => format!("(anonymous {line}:{column})"),
        ("", ..) => "(anonymous)".to_owned(),
        (name, ..) => name.to_owned(),
    };
    let file = Some(file.to_owned()).filter(|file| !file.is_empty());
    Spelled { name, file, line, ..Spelled::default() }
}

/// `handler:/srv/app.py`.
fn of_python(text: &str) -> Spelled {
    match text.rsplit_once(':') {
        Some((name, file)) => {
            Spelled { name: name.to_owned(), file: Some(file.to_owned()), ..Spelled::default() }
        }
        None => Spelled { name: text.to_owned(), ..Spelled::default() },
    }
}

/// .NET ends its names with the tier of the compiler: `void [app] App::Sign(int)[OptimizedTier1]`.
fn without_tier(text: &str) -> &str {
    match text.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((name, tier)) if !name.is_empty() && tier.chars().all(char::is_alphanumeric) => name,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runtime_spells_in_its_own_way() {
        let cases = [
            ("JS:*handler file:///srv/s.js:3:19", ("handler", Some("/srv/s.js"), Some(3))),
            ("LazyCompile:~emit node:events:466:44", ("emit", Some("node:events"), Some(466))),
            ("JS:^ /srv/s.js:5:23", ("(anonymous 5:23)", Some("/srv/s.js"), Some(5))),
            ("Builtin:InterpreterEntryTrampoline", ("Builtin:InterpreterEntryTrampoline", None, None)),
            ("py::Shop.sign:/srv/app.py", ("Shop.sign", Some("/srv/app.py"), None)),
            ("int32 [app] App::Sign(uint8[])[OptimizedTier1]", ("App.Sign", Some("app.dll"), None)),
            (
                "instance class [System.Runtime]System.Threading.Tasks.Task [app] Shop.Program+<>c::<Main>b__6_4(class [x]y)",
                ("Shop.Program+<>c.<Main>b__6_4", Some("app.dll"), None),
            ),
            ("void [System.Text.Json] A.B::C()[PreJIT]", ("A.B.C", None, None)),
            ("stub GenericLookup<0>[Tier0]", ("stub GenericLookup<0>", None, None)),
            (
                "void com.example.Shop.sign(java.lang.String)",
                ("void com.example.Shop.sign(java.lang.String)", None, None),
            ),
        ];
        for (text, (name, file, line)) in cases {
            let found = spelled(text);
            assert_eq!(
                (found.name.as_str(), found.file.as_deref(), found.line),
                (name, file, line),
                "{text}"
            );
        }
        let parameters = "System.String,".repeat(40);
        let long = format!(
            "instance void [System.Private.CoreLib] System.A`1+Box`1[{parameters}]::MoveNext()[Tier1]"
        );
        assert_eq!(spelled(&long).name, "System.A`1+Box`1.MoveNext");
        assert_eq!(spelled("void [System.Text.Json] A.B::C()[PreJIT]").module, "System.Text.Json");
        for text in ["", "JS:", "JS:*", "py::", "[", "]", "JS:*a :::", "::", "] ::", "[] ::("] {
            spelled(text);
        }
    }
}
