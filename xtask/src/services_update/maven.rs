//! Java: Maven's versions plugin, which also reports the version in use, from the pom or its parent.
//!
//! There is no date: the metadata of a package only record when they were last written.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::{Answer, client};

const GOAL: &str = "org.codehaus.mojo:versions-maven-plugin:2.18.0:display-dependency-updates";

/// Maven does not classify pre-releases; it only sorts `alpha` before a release.
const PRE_RELEASES: &str =
    "-Dmaven.version.ignore=(?i).*[-.](alpha|beta|milestone|m|rc|cr|preview|ea|snapshot)[-.]?[0-9]*";

/// For the plugin this is no error: it then answers from its cache.
const UNREACHED: &str = "Could not transfer metadata";

pub(super) fn ask(folder: &Path, name: &str) -> Result<Answer> {
    let only = format!("-DdependencyIncludes={name}");
    let quiet = ["mvn", "--batch-mode", "--no-transfer-progress", "--update-snapshots", GOAL];
    let within = ["-DprocessDependencyManagement=false", "-Dverbose=true", PRE_RELEASES, &only];
    let printed = client::run(folder, &[&quiet[..], &within[..]].concat())?;
    ensure!(!printed.stdout.contains(UNREACHED), "mvn could not transfer the metadata");
    let (used, newest) = versions(&printed.stdout, name)
        .with_context(|| format!("pom.xml has no {name}, or the plugin printed another shape of text"))?;
    Ok(Answer { used, newest, date: None, lock: None })
}

/// `NAME .... USED` or `NAME .... USED -> NEWEST`, in two lines if it is long.
fn versions(printed: &str, name: &str) -> Option<(String, String)> {
    let words = printed.split_whitespace().filter(|word| *word != "[INFO]");
    let mut rest = words.skip_while(|word| *word != name).skip(1);
    let used = rest.find(|word| !word.chars().all(|c| c == '.'))?;
    let newest = if rest.next() == Some("->") { rest.next()? } else { used };
    Some((used.to_owned(), newest.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(printed: &str) -> Option<(String, String)> {
        versions(printed, "io.netty:netty-codec-http")
    }

    #[test]
    fn the_newest_is_behind_the_arrow_or_what_is_used() {
        let current = "[INFO] The following dependencies in Dependencies are using the newest version:\n\
            [INFO]   io.netty:netty-codec-http2 .............. 4.2.19.Final\n\
            [INFO]   io.netty:netty-codec-http ............... 4.2.20.Final\n[INFO] \n[INFO] No dependencies\n";
        assert_eq!(told(current), Some(("4.2.20.Final".into(), "4.2.20.Final".into())));
        let newer = "[INFO]   io.netty:netty-codec-http ..... 4.2.20.Final -> 4.2.21.Final\n[INFO] \n";
        assert_eq!(told(newer), Some(("4.2.20.Final".into(), "4.2.21.Final".into())));
    }

    #[test]
    fn long_lines_are_broken() {
        let broken =
            "[INFO]   io.netty:netty-codec-http ...\n[INFO]                  4.2.20.Final -> 4.3.0\n";
        assert_eq!(told(broken), Some(("4.2.20.Final".into(), "4.3.0".into())));
        assert_eq!(told("[INFO] BUILD SUCCESS\n"), None);
    }
}
