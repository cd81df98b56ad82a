//! Addresses at which forges show what is in a repository.

/// What is shown: forges have different pages for a folder and for a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shown {
    Folder,
    File,
}

/// Drops the user and token of a remote URL.
pub(super) fn address(remote: &str, commit: &str, path: &str, shown: Shown) -> Option<String> {
    let without_scheme =
        ["https://", "http://", "ssh://"].iter().find_map(|scheme| remote.strip_prefix(scheme));
    let place = without_scheme.unwrap_or(remote);
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let (host, repository) = place.split_once(if without_scheme.is_some() { '/' } else { ':' })?;
    let repository = repository.trim_end_matches('/').trim_end_matches(".git");
    let before = match (host, shown) {
        ("github.com", Shown::Folder) => "tree",
        ("github.com", Shown::File) => "blob",
        ("gitlab.com", Shown::Folder) => "-/tree",
        ("gitlab.com", Shown::File) => "-/blob",
        ("codeberg.org", _) => "src/commit",
        _ => return None,
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./+".contains(letter);
    let address = format!("{repository}/{before}/{commit}/{path}");
    address.chars().all(is_plain).then(|| format!("https://{host}/{address}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forge_shows_a_folder_at_a_commit_and_no_token() {
        let at = |remote: &str| address(remote, "abc", "services/rust/axum", Shown::Folder);
        let github = Some("https://github.com/o/r/tree/abc/services/rust/axum".to_owned());
        assert_eq!(at("git@github.com:o/r.git"), github);
        assert_eq!(at("https://user:token@github.com/o/r.git"), github);
        assert_eq!(at("ssh://git@github.com/o/r"), github);
        let gitlab = Some("https://gitlab.com/g/s/r/-/tree/abc/services/rust/axum".to_owned());
        assert_eq!(at("https://gitlab.com/g/s/r/"), gitlab);
        for unknown in ["/srv/git/r.git", "https://example.org/o/r.git", "git@github.com:o/r\"><b>", ""] {
            assert_eq!(at(unknown), None, "{unknown}");
        }
        let file = |remote: &str| address(remote, "abc", "main.go", Shown::File);
        assert_eq!(file("git@github.com:o/r.git").unwrap(), "https://github.com/o/r/blob/abc/main.go");
        assert_eq!(file("git@gitlab.com:o/r.git").unwrap(), "https://gitlab.com/o/r/-/blob/abc/main.go");
        let codeberg = "https://codeberg.org/o/r/src/commit/abc/main.go";
        assert_eq!(file("https://codeberg.org/o/r").unwrap(), codeberg);
    }
}
