//! The file that runs the gate on the CI server of the repository.

use std::path::PathBuf;

use super::file::ProjectText;

/// The action of this release. A release with a repository of its own has its name and commit here.
const ACTION: &str = "OWNER/tare@main";

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Ci {
    Github,
    Gitlab,
}

impl Ci {
    /// What a person must edit in the file before it can run; `None` if the release names its action.
    pub(super) fn to_edit(self) -> Option<&'static str> {
        let is_open = matches!(self, Ci::Github) && ACTION.starts_with("OWNER/");
        is_open.then_some(
            "put the repository that holds Tare in place of OWNER/tare, and a commit of it in place of main",
        )
    }

    pub(super) fn file(self, project: &ProjectText) -> (PathBuf, String) {
        let name = project.name;
        match self {
            Ci::Github => (
                PathBuf::from(".github/workflows/tare.yml"),
                format!(
                    "name: tare\non: pull_request\npermissions: {{ contents: read, pull-requests: write }}\njobs:\n  gate:\n    \
                     runs-on: ubuntu-latest\n    steps:\n      \
                     - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2\n        \
                     with: {{ fetch-depth: 0 }}\n      \
                     - uses: {ACTION}    # the repository that holds Tare\n        with: {{ gate: {name} }}\n"
                ),
            ),
            Ci::Gitlab => (
                PathBuf::from(".gitlab/tare.yml"),
                format!(
                    "# Include it in .gitlab-ci.yml: include: {{ local: .gitlab/tare.yml }}. It needs `tare` in the image.\ntare-gate:\n  \
                     stage: test\n  rules: [{{ if: $CI_PIPELINE_SOURCE == \"merge_request_event\" }}]\n  variables: {{ GIT_DEPTH: 0, \
                     TARE_TRUST: 1 }}\n  script:\n    - \
                     tare compare --gate {name} --revisions \"$CI_MERGE_REQUEST_DIFF_BASE_SHA...HEAD\"\n  \
                     artifacts: {{ when: always, paths: [.tare/runs] }}\n"
                ),
            ),
        }
    }
}
