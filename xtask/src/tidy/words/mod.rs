//! Rule for words: text by people contains no word that docs/words.toml refuses. docs/style.md explains why.
//!
//! Case is ignored; hyphens and underscores count as spaces. Limits: phrases over two lines, CamelCase.
//!
//! In Rust only comments and string literals count, and only in the folders that the list calls clean.

mod prose;

use std::borrow::Cow;

use serde::Deserialize;

use super::text::has_word;
use super::{File, Finding};

const LIST: &str = "docs/words.toml";
const FIX: &str = "docs/style.md has the words";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct List {
    #[serde(rename = "format")]
    _format: String,
    extensions: Vec<String>,
    allowed: Vec<String>,
    #[serde(default)]
    clean: Vec<String>,
    word: Vec<Word>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Word {
    old: Vec<String>,
    new: String,
    #[serde(default)]
    extensions: Option<Vec<String>>,
    #[serde(default)]
    allowed: Vec<String>,
}

/// Checks all files against the list. Without a list no word is refused.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let Some(file) = files.iter().find(|file| file.path == LIST) else { return Vec::new() };
    match toml::from_str::<List>(&file.text) {
        Ok(list) => {
            files.iter().filter(|file| list.asks(&file.path)).flat_map(|file| list.found(file)).collect()
        }
        Err(error) => vec![Finding::new(LIST, 1, format!("no list of words: {}", error.message()), FIX)],
    }
}

impl List {
    fn asks(&self, path: &str) -> bool {
        !begins_with_any(path, &self.allowed)
    }

    fn found(&self, file: &File) -> Vec<Finding> {
        let is_clean = self.is_clean(file);
        let words = self.word.iter().filter(|word| is_clean || word.asks(file, &self.extensions));
        let words: Vec<&Word> = words.filter(|word| !begins_with_any(&file.path, &word.allowed)).collect();
        let text = if is_clean { Cow::Owned(prose::of(&file.text)) } else { Cow::Borrowed(&file.text) };
        let lines = text.lines().map(plain).enumerate();
        let refused = |(index, line): (usize, String)| {
            let found = words.iter().filter_map(|word| word.refused(&line, &file.path, index + 1));
            found.collect::<Vec<_>>()
        };
        lines.flat_map(refused).collect()
    }

    fn is_clean(&self, file: &File) -> bool {
        file.extension() == "rs" && begins_with_any(&file.path, &self.clean)
    }
}

impl Word {
    fn asks(&self, file: &File, extensions: &[String]) -> bool {
        let extensions = self.extensions.as_deref().unwrap_or(extensions);
        extensions.iter().any(|extension| extension == file.extension())
    }

    fn refused(&self, line: &str, path: &str, number: usize) -> Option<Finding> {
        let old = self.old.iter().find(|old| has_word(line, &plain(old)))?;
        Some(Finding::new(path, number, format!("'{old}': write {}", self.new), FIX))
    }
}

fn begins_with_any(path: &str, beginnings: &[String]) -> bool {
    beginnings.iter().any(|beginning| path.starts_with(beginning))
}

fn plain(text: &str) -> String {
    text.to_lowercase().replace(['-', '_'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = "format = \"1.0\"\nextensions = [\"md\"]\nallowed = [\"docs/words.toml\", \"quoted/\"]\n\
        clean = [\"clean/\"]\n\
        [[word]]\nold = [\"gizmo\", \"by gadget\"]\nnew = \"a setting\"\n\
        [[word]]\nold = [\"seen\"]\nnew = \"observed\"\nextensions = [\"rs\"]\nallowed = [\"eyes.\"]\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        let files = [(LIST, WORDS), (path, text)];
        let files = files.map(|(path, text)| File { path: path.to_owned(), text: text.to_owned() });
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn words_are_found_in_any_case_and_only_whole() {
        for text in ["a Gizmo", "a-gizmo", "the_GIZMO.", "by-gadget", "by  gadget? no: by gadget"] {
            assert_eq!(found("a.md", text).len(), 1, "{text}");
        }
        assert_eq!(
            found("a.md", "\na gizmo\n"),
            ["a.md:2: 'gizmo': write a setting (docs/style.md has the words)"]
        );
        assert_eq!(found("a.md", "gizmos, gizmodo, bygadget"), [] as [&str; 0]);
    }

    #[test]
    fn each_word_has_its_files() {
        assert_eq!(found("a.rs", "a gizmo was seen").len(), 1, "the other is asked of Markdown");
        assert_eq!(found("a.md", "it was seen"), [] as [&str; 0]);
        assert_eq!(found("quoted/a.md", "a gizmo"), [] as [&str; 0]);
        assert_eq!(found("eyes.rs", "it was seen"), [] as [&str; 0]);
    }

    #[test]
    fn rust_in_a_clean_folder_is_checked_in_its_comments_and_strings() {
        let source = "fn gizmo() {\n    // a gizmo\n    print(\"by gadget\");\n}\n";
        let lines =
            |path| found(path, source).iter().map(|it| it.split(':').nth(1).unwrap().to_owned()).collect();
        let found: Vec<String> = lines("clean/a.rs");
        assert_eq!(found, ["2", "3"]);
        let elsewhere: Vec<String> = lines("b.rs");
        assert_eq!(elsewhere, [] as [&str; 0]);
    }

    #[test]
    fn a_list_with_a_mistake_is_named() {
        let files = [File { path: LIST.to_owned(), text: "format = 1".to_owned() }];
        assert!(
            check(&files)[0].to_string().starts_with("docs/words.toml:1: no list of words: "),
            "{:?}",
            check(&files)
        );
        assert_eq!(check(&[]), []);
    }
}
