//! Splits a `RUN` line into commands as a POSIX shell does, and finds its absolute paths, which refer to the
//! image's file system.

use std::fmt::Write as _;

/// Words that begin a compound command; a text that contains one is not split.
const COMPOUND: [&str; 8] = ["for", "while", "until", "if", "case", "function", "{", "select"];
/// Keywords that may precede a command.
const BEFORE: [&str; 7] = ["if ", "then ", "else ", "elif ", "do ", "while ", "! "];
/// Variables of a script: the folder of the stage, and the folder of the shared tools.
pub(super) const ROOT: &str = "R";
pub(super) const TOOLS: &str = "T";

/// Commands joined by `&&`. A command with `||`, or one that a shell must read as a whole, stays a single
/// command.
pub(super) type Statement = Vec<String>;

/// Joins the lines of an instruction into one shell line: continued lines are joined, comments are left out.
pub(super) fn joined(text: &str) -> String {
    let mut whole = String::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        match line.trim_end().strip_suffix('\\') {
            Some(line) => whole += line,
            None => {
                whole += line;
                whole.push('\n');
            }
        }
    }
    let collapsed: Vec<&str> = whole.trim().split_inclusive('\n').collect();
    collapsed.concat()
}

/// The statements of a script.
pub(super) fn statements(script: &str) -> Vec<Statement> {
    let is_compound = script.split_whitespace().any(|word| COMPOUND.contains(&word)) || script.contains("<<");
    if is_compound {
        return vec![vec![script.trim().to_owned()]];
    }
    let parts = split(script, |rest| match rest {
        // `;;` belongs to a case, which is not split.
        rest if rest.starts_with(';') || rest.starts_with('\n') => Some(1),
        _ => None,
    });
    let of = |part: &str| {
        let either = split(part, |rest| rest.starts_with("||").then_some(2)).len() > 1;
        match either {
            true => vec![part.trim().to_owned()],
            false => split(part, |rest| rest.starts_with("&&").then_some(2)),
        }
    };
    parts.iter().map(|part| of(part)).filter(|statement| !statement.is_empty()).collect()
}

/// The commands of a pipeline.
pub(super) fn pipeline(command: &str) -> Vec<String> {
    let is_second = |rest: &str| command[..command.len() - rest.len()].ends_with('|');
    split(command, |rest| (rest.starts_with('|') && !rest.starts_with("||") && !is_second(rest)).then_some(1))
}

/// Every command in a text, including those in conditions and loops, without preceding keywords.
pub(super) fn parts(command: &str) -> Vec<String> {
    let separator = |rest: &str| match rest {
        rest if rest.starts_with("&&") || rest.starts_with("||") => Some(2),
        rest if rest.starts_with(['|', ';', '\n']) => Some(1),
        _ => None,
    };
    let mut parts = Vec::new();
    for part in split(command, separator) {
        let mut words = part.trim_start_matches(['(', '{', '!', ' ']);
        while let Some(rest) = BEFORE.iter().find_map(|before| words.strip_prefix(before)) {
            words = rest.trim_start();
        }
        let inner = words.trim_end_matches([')', '}', ' ']);
        match part.starts_with('(') && inner != part {
            true => parts.extend(self::parts(inner)),
            false => parts.push(words.to_owned()),
        }
    }
    parts
}

/// Splits a text at separators outside quotes and parentheses. `separator` gets the rest of the text and
/// returns the length of a separator at its beginning. Blank parts are left out.
fn split(text: &str, separator: impl Fn(&str) -> Option<usize>) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut state = Quotes::default();
    let mut depth = 0_usize;
    let mut skip = 0_usize;
    for (at, c) in text.char_indices() {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        let is_plain = state.is_plain();
        if is_plain
            && depth == 0
            && let Some(length) = separator(&text[at..])
        {
            // Separators are ASCII.
            skip = length - 1;
            parts.push(String::new());
            continue;
        }
        match c {
            '(' if is_plain => depth += 1,
            ')' if is_plain => depth = depth.saturating_sub(1),
            _ => {}
        }
        state.take(c);
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The quotes that are open at a place.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Quotes {
    single: bool,
    double: bool,
    backtick: bool,
    escaped: bool,
}

impl Quotes {
    fn is_plain(self) -> bool {
        !self.single && !self.double && !self.backtick && !self.escaped
    }

    fn take(&mut self, c: char) {
        if self.escaped {
            self.escaped = false;
            return;
        }
        match c {
            '\\' if !self.single => self.escaped = true,
            '\'' if !self.double => self.single = !self.single,
            '"' if !self.single => self.double = !self.double,
            '`' if !self.single => self.backtick = !self.backtick,
            _ => {}
        }
    }
}

/// The words of a command as a shell sees them; none if a quote is not closed.
pub(super) fn words(command: &str) -> Vec<String> {
    shlex::split(command).unwrap_or_default()
}

/// A word quoted so that a shell takes it literally.
pub(super) fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| String::from("''"), std::borrow::Cow::into_owned)
}

/// The location of an image's absolute path on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whereabouts {
    /// In the folder of its stage.
    Stage,
    /// In the folder of the shared tools; this number of bytes is cut from the path.
    Tools(usize),
    /// A path of this machine's system, unchanged.
    System,
}

/// A rewritten script, and the paths of this machine's system that it still contains.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rewritten {
    pub text: String,
    pub system: Vec<String>,
}

/// Replaces absolute paths of a shell script by paths below `$R` and `$T`. `lies` locates a path; its second
/// argument is true inside single quotes, where other things begin with a slash too.
pub(super) fn rewrite(script: &str, lies: impl Fn(&str, bool) -> Whereabouts) -> Rewritten {
    let mut done = Rewritten::default();
    let mut state = Quotes::default();
    let mut before = None;
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let path = if c == '/' && begins_path(&done.text, before) { path_of(rest) } else { "" };
        if path.len() > 1 {
            match lies(path, state.single) {
                Whereabouts::Stage => put(&mut done.text, state, ROOT, path),
                Whereabouts::Tools(left_out) => {
                    put(&mut done.text, state, TOOLS, path.get(left_out..).unwrap_or(""))
                }
                Whereabouts::System => {
                    // In single quotes only a whole argument counts: a part may be another program's text.
                    if !state.single || before == Some('\'') && rest[path.len()..].starts_with('\'') {
                        done.system.push(path.to_owned());
                    }
                    done.text += path;
                }
            }
            before = path.chars().last();
            rest = &rest[path.len()..];
            continue;
        }
        state.take(c);
        done.text.push(c);
        before = Some(c);
        rest = &rest[c.len_utf8()..];
    }
    done
}

/// Outside quotes the variable needs its own; single quotes are closed before it.
fn put(text: &mut String, state: Quotes, variable: &str, path: &str) {
    let _a_string_takes_it = match (state.single, state.double) {
        (true, _) => write!(text, "'\"${variable}\"'{path}"),
        (_, true) => write!(text, "${{{variable}}}{path}"),
        _ => write!(text, "\"${variable}\"{path}"),
    };
}

/// Whether a slash may begin a path here: at the beginning of a word or value, or after `-I` or `-L`.
fn begins_path(text: &str, before: Option<char>) -> bool {
    match before {
        None => true,
        Some(c) if c.is_whitespace() || "='\"`(,;|&><:{".contains(c) => true,
        Some('I' | 'L') => text.ends_with("-I") || text.ends_with("-L"),
        Some(_) => false,
    }
}

/// The path at the beginning of a text; `//` begins none.
fn path_of(text: &str) -> &str {
    let is_of_path = |c: char| c.is_ascii_alphanumeric() || "/._-+@%~".contains(c);
    let end = text.find(|c| !is_of_path(c)).unwrap_or(text.len());
    let path = &text[..end];
    if path.starts_with("//") { "" } else { path }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewritten(script: &str) -> String {
        let lies = |path: &str, quoted: bool| match path {
            path if path.starts_with("/go/bin") => Whereabouts::Tools(3),
            path if path.starts_with("/usr/") || path.starts_with("/etc") => Whereabouts::System,
            path if quoted && !path.starts_with("/app") => Whereabouts::System,
            _ => Whereabouts::Stage,
        };
        rewrite(script, lies).text
    }

    #[test]
    fn a_script_is_split_as_a_shell_does() {
        assert_eq!(
            statements("apt-get update && apt-get install -y gcc; pip install 'a && b' && x"),
            [vec!["apt-get update", "apt-get install -y gcc"], vec!["pip install 'a && b'", "x"]]
        );
        assert_eq!(statements("a && b || true; c"), [vec!["a && b || true"], vec!["c"]]);
        assert_eq!(statements("a $(b && c; d) && (e; f)"), [vec!["a $(b && c; d)", "(e; f)"]]);
        assert_eq!(statements("for f in *.c; do gcc $f; done"), [vec!["for f in *.c; do gcc $f; done"]]);
        assert_eq!(pipeline("curl -s x | sh -"), ["curl -s x", "sh -"]);
        assert_eq!(pipeline("a || b"), ["a || b"]);
        assert_eq!(parts("if a; then b && c; fi"), ["a", "b", "c", "fi"]);
        assert_eq!(parts("a | (b; c) || d"), ["a", "b", "c", "d"]);
    }

    #[test]
    fn lines_are_joined_without_comments() {
        assert_eq!(joined("a \\\n  # why\n  && b \\\n  c"), "a   && b   c");
    }

    #[test]
    fn a_path_in_the_text_of_another_program_is_none_of_the_command() {
        let system = |script: &str| rewrite(script, |_, _| Whereabouts::System).system;
        assert_eq!(system("sed -i 's|/a/b|/etc/c|' x"), Vec::<String>::new());
        assert_eq!(system("cp x '/etc/c' \"/etc/d\" /etc/e"), ["/etc/c", "/etc/d", "/etc/e"]);
    }

    #[test]
    fn paths_of_the_image_are_those_of_a_folder() {
        for (script, wanted) in [
            ("cd /app && make PREFIX=/opt/x", "cd \"$R\"/app && make PREFIX=\"$R\"/opt/x"),
            ("sed -i 's|x|/app/y|' \"/app/a b\"", "sed -i 's|x|'\"$R\"'/app/y|' \"${R}/app/a b\""),
            ("cat '/app/y'", "cat ''\"$R\"'/app/y'"),
            ("gcc -I/opt/i -L/opt/l a/b.c", "gcc -I\"$R\"/opt/i -L\"$R\"/opt/l a/b.c"),
            ("curl https://a/b > /etc/x", "curl https://a/b > /etc/x"),
            ("PATH=/go/bin:$PATH", "PATH=\"$T\"/bin:$PATH"),
            ("sed '/#include/d' s/a/b/", "sed '/#include/d' s/a/b/"),
        ] {
            assert_eq!(rewritten(script), wanted, "{script}");
        }
    }

    proptest! {
        /// Any script can be split, and a script without paths of the image is not changed.
        #[test]
        fn no_script_is_too_much(script in "([a-z|&;()'\"\\\\$/ \n<#é]|&&|\\|\\||/app/x|/usr/y){0,40}") {
            let _ = (statements(&script), pipeline(&script), parts(&script), words(&script), joined(&script));
            let same = rewrite(&script, |_, _| Whereabouts::System);
            prop_assert_eq!(same.text, script);
        }
    }
}
