//! Rule for third-party actions in workflows: they are pinned to a commit. The owner of a tag can move it,
//! and the next job would run the new content with the repository's permissions.

use super::{File, Finding};

/// The text before the name of an action, split so that this file does not match.
const USES: &str = concat!("use", "s: ");
/// The action of this repository, whose owner is unknown before publication.
const OWN: &str = "OWNER/tare@";
const FIX: &str = "name its commit: `OWNER/NAME@` and 40 hexadecimal digits, and then `# v` and its version";

pub(super) fn check(file: &File) -> Vec<Finding> {
    let lines = (1..).zip(file.text.lines());
    let of_line = |(number, line): (usize, &str)| {
        let unpinned = line.split(USES).skip(1).filter_map(|rest| unpinned(rest).map(ToOwned::to_owned));
        let finding =
            |action| Finding::new(&file.path, number, format!("the action `{action}` may change"), FIX);
        unpinned.map(finding).collect::<Vec<_>>()
    };
    lines.flat_map(of_line).collect()
}

/// The used action, if it belongs to others and is not pinned to a commit with its version.
fn unpinned(rest: &str) -> Option<&str> {
    let end = rest.find(|c: char| c.is_whitespace() || "\\\"'`{".contains(c)).unwrap_or(rest.len());
    let (action, after) = rest.split_at(end);
    let (name, commit) = action.split_once('@')?;
    let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_version = after.trim_start().starts_with("# v");
    let is_action = name.contains('/') && !action.starts_with(OWN) && !name.starts_with("./");
    (is_action && !(is_commit && has_version)).then_some(action)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<String> {
        let text = format!("steps:\n  - {USES}{line}\n");
        check(&File { path: "a.yml".to_owned(), text }).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_action_of_others_is_named_by_its_commit_and_its_version() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        for pinned in
            [&format!("a/b@{commit} # v1.2"), &format!("a/b/c@{commit} # v1\\n"), "OWNER/tare@main", "./here"]
        {
            assert_eq!(found(pinned), [""; 0], "{pinned}");
        }
        let told = format!("a.yml:2: the action `a/b@v4` may change ({FIX})");
        assert_eq!(found("a/b@v4"), [&*told]);
        assert_eq!(found("a/b@v4\\n  with:"), [&*told]);
        for wrong in [&format!("a/b@{commit}"), &format!("a/b@{} # v1", &commit[1..]), "a/b@main # v4"] {
            assert_eq!(found(wrong).len(), 1, "{wrong}");
        }
    }
}
