//! Addresses at which forges show a folder of a repository.

/// Drops the user and token of a remote URL.
pub(super) fn address(remote: &str, commit: &str, path: &str) -> Option<String> {
    let without_scheme =
        ["https://", "http://", "ssh://"].iter().find_map(|scheme| remote.strip_prefix(scheme));
    let place = without_scheme.unwrap_or(remote);
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let (host, repository) = place.split_once(if without_scheme.is_some() { '/' } else { ':' })?;
    let repository = repository.trim_end_matches('/').trim_end_matches(".git");
    let before = match host {
        "github.com" => "tree",
        "gitlab.com" => "-/tree",
        "codeberg.org" => "src/commit",
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
        let at = |remote: &str| address(remote, "abc", "services/rust/axum");
        let github = Some("https://github.com/o/r/tree/abc/services/rust/axum".to_owned());
        assert_eq!(at("git@github.com:o/r.git"), github);
        assert_eq!(at("https://user:token@github.com/o/r.git"), github);
        assert_eq!(at("ssh://git@github.com/o/r"), github);
        let gitlab = Some("https://gitlab.com/g/s/r/-/tree/abc/services/rust/axum".to_owned());
        assert_eq!(at("https://gitlab.com/g/s/r/"), gitlab);
        for unknown in ["/srv/git/r.git", "https://example.org/o/r.git", "git@github.com:o/r\"><b>", ""] {
            assert_eq!(at(unknown), None, "{unknown}");
        }
    }
}
