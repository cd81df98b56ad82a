//! Why a source could not be included in a build.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error(
        "{git} cannot be reached: {said}; where the network has no such host, name a mirror of it by \
         `git config --global url.<mirror>.insteadOf {git}`; all of it: {}", log.display()
    )]
    Unreachable { git: String, said: String, log: PathBuf },
    #[error("{git} was reached, but did not give {commit}: {said}; all of it: {}", log.display())]
    NotGiven { git: String, commit: String, said: String, log: PathBuf },
    #[error("{git} has no commit {commit}; all of it: {}", log.display())]
    NoCommit { git: String, commit: String, log: PathBuf },
    #[error(
        "commit {commit} of {git} has the tree {found}, and the manifest says {tree}: nothing of it was used"
    )]
    OtherTree { git: String, commit: String, tree: String, found: String },
    #[error("\"{}\" is in the service's folder already: a source goes where there is nothing", into.display())]
    Taken { into: PathBuf },
    #[error("\"{}\" cannot be applied to {git}: {said}; all of it: {}", patch.display(), log.display())]
    Patch { patch: PathBuf, git: String, said: String, log: PathBuf },
    #[error("`git {words}` failed: {said}; all of it: {}", log.display())]
    Git { words: String, said: String, log: PathBuf },
}

impl SourceError {
    /// Whether this machine or its network is the cause, not the service.
    pub fn is_of_this_machine(&self) -> bool {
        matches!(self, SourceError::Unreachable { .. } | SourceError::NotGiven { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "1111111111111111111111111111111111111111";

    #[test]
    fn each_error_names_what_it_is_of_and_what_to_do() {
        let git = || "https://example.org/frame.git".to_owned();
        let log = || PathBuf::from("/repository/.tare/builds/frame.log");
        let commit = || COMMIT.to_owned();
        let errors = [
            SourceError::Unreachable {
                git: git(),
                said: "Could not resolve host: example.org".into(),
                log: log(),
            },
            SourceError::NotGiven { git: git(), commit: commit(), said: "early EOF".into(), log: log() },
            SourceError::NoCommit { git: git(), commit: commit(), log: log() },
            SourceError::OtherTree {
                git: git(),
                commit: commit(),
                tree: "2".repeat(40),
                found: "3".repeat(40),
            },
            SourceError::Taken { into: "frame".into() },
            SourceError::Patch {
                patch: "linux.patch".into(),
                git: git(),
                said: "a.c: patch does not apply".into(),
                log: log(),
            },
            SourceError::Git { words: "init".into(), said: "no space left on device".into(), log: log() },
        ];
        let text = errors.map(|error| format!("{error}\n")).concat();
        insta::assert_snapshot!(text, @r#"
        https://example.org/frame.git cannot be reached: Could not resolve host: example.org; where the network has no such host, name a mirror of it by `git config --global url.<mirror>.insteadOf https://example.org/frame.git`; all of it: /repository/.tare/builds/frame.log
        https://example.org/frame.git was reached, but did not give 1111111111111111111111111111111111111111: early EOF; all of it: /repository/.tare/builds/frame.log
        https://example.org/frame.git has no commit 1111111111111111111111111111111111111111; all of it: /repository/.tare/builds/frame.log
        commit 1111111111111111111111111111111111111111 of https://example.org/frame.git has the tree 3333333333333333333333333333333333333333, and the manifest says 2222222222222222222222222222222222222222: nothing of it was used
        "frame" is in the service's folder already: a source goes where there is nothing
        "linux.patch" cannot be applied to https://example.org/frame.git: a.c: patch does not apply; all of it: /repository/.tare/builds/frame.log
        `git init` failed: no space left on device; all of it: /repository/.tare/builds/frame.log
        "#);
    }
}
