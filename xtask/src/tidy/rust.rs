//! Rules for Rust: short functions, short files, no tabs, nothing left unfinished.
//!
//! The length of a function is found by braces, not by a parser. Limits: a block in braces within a signature (a const
//! generic argument) is taken for the body, and the body of a macro counts like code.

use super::mask::mask;
use super::{File, Finding};

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 700;

/// Macros that no finished code has.
const MACROS: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];

/// All rules for one file of Rust.
pub fn check(file: &File) -> Vec<Finding> {
    let code = mask(&file.text);
    let mut findings = Vec::new();
    let lines = file.text.lines().count();
    if lines > FILE_LINES_MAX {
        let what = format!("{lines} lines in a file, more than {FILE_LINES_MAX}");
        findings.push(Finding::new(&file.path, FILE_LINES_MAX + 1, what, "split it by what its parts know"));
    }
    for (name, line, length) in functions(&code) {
        if length > FUNCTION_LINES_MAX {
            let what = format!("function `{name}` has {length} lines, more than {FUNCTION_LINES_MAX}");
            findings.push(Finding::new(
                &file.path,
                line,
                what,
                "move a part of it to a function with a name",
            ));
        }
    }
    for (index, (line, code)) in file.text.lines().zip(code.lines()).enumerate() {
        if line.contains('\t') {
            findings.push(Finding::new(&file.path, index + 1, "a tab", "use spaces: cargo fmt"));
        }
        for word in MACROS.iter().filter(|word| has_macro(code, word)) {
            findings.push(Finding::new(
                &file.path,
                index + 1,
                format!("`{word}`"),
                "finish it, or open an issue",
            ));
        }
    }
    findings
}

fn has_macro(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Name, first line (from 1) and number of lines of every function with a body. Expects masked source.
fn functions(code: &str) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '#') {
            continue;
        }
        let name: String = code[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(length) = body_end(&code[at..]).map(|end| code[at..at + end].lines().count()) else {
            continue;
        };
        if !name.is_empty() {
            found.push((name, code[..at].matches('\n').count() + 1, length));
        }
    }
    found
}

/// Where the body ends, in bytes from the `fn`; `None` for a declaration without a body, and where braces do not match.
fn body_end(code: &str) -> Option<usize> {
    let (mut braces, mut others) = (0_usize, 0_usize);
    for (at, c) in code.char_indices() {
        match c {
            '{' => braces += 1,
            '}' if braces <= 1 => return (braces == 1).then_some(at + 1),
            '}' => braces -= 1,
            '(' | '[' => others += 1,
            ')' | ']' => others = others.saturating_sub(1),
            // The semicolon of `[u8; 4]` in a signature ends nothing.
            ';' if braces == 0 && others == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        check(&File { path: "a.rs".to_owned(), text: text.to_owned() })
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    fn function(lines: usize) -> String {
        format!("pub fn long() {{\n{}}}\n", "    step(); // }\n".repeat(lines - 2))
    }

    #[test]
    fn functions_may_have_seventy_lines() {
        assert_eq!(found(&function(70)), [] as [&str; 0]);
        let long = found(&format!("// first\n{}", function(71)));
        assert_eq!(long.len(), 1);
        assert!(long[0].starts_with("a.rs:2: function `long` has 71 lines"), "{long:?}");
    }

    #[test]
    fn functions_are_told_from_what_looks_like_them() {
        let code = "trait T { fn a(x: [u8; 4]);\n fn b() {} }\n\
                    let f: fn (u8) = x;\nfn c(f: fn(u8)) -> u8 {\n match 1 { _ => 2 }\n}\n";
        let names: Vec<_> = functions(code);
        assert_eq!(names, [("b".to_owned(), 2, 1), ("c".to_owned(), 4, 3)]);
    }

    #[test]
    fn files_may_have_seven_hundred_lines() {
        assert_eq!(found(&"//\n".repeat(700)), [] as [&str; 0]);
        assert!(found(&"//\n".repeat(701))[0].starts_with("a.rs:701: 701 lines in a file"));
    }

    #[test]
    fn tabs_are_found_anywhere() {
        assert!(found("x\n\ty\n")[0].starts_with("a.rs:2: a tab"));
    }

    #[test]
    fn unfinished_macros_are_found_in_code_only() {
        for word in MACROS {
            assert!(found(&format!("fn f() {{ {word}() }}"))[0].contains(word), "{word}");
            assert_eq!(found(&format!("// {word}\nlet x = \"{word}\"; my_{word}();")), [] as [&str; 0]);
        }
    }
}
