//! Options of other load generators, and the equivalents of `tare load`.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

const USAGE: &str = "Usage: tare load [OPTIONS] [URL]...";
const VERSIONS: &str = "HTTP/1.1 is the default, HTTP/2 is --h2 or --h2c, and HTTP/3 is not supported";
const RATE: &str = "a rate is -R here, over all connections, such as -R 500";
const FILE: &str = "a file as body is --data @FILE here";
const NO_KEEP_ALIVE: &str = "connections without keep-alive are --requests-per-connection 1 here";
const NO_SCRIPT: &str = "there are no scripts here: {{number}} in the URL or body varies it, and --contract NAME sends several \
                         requests";

/// The option as typed, and its tip. Options with the same name in `tare load` are not listed.
const TIPS: [(&str, &str); 24] = [
    ("-z", "-z is -d here, such as -d 30s"),
    ("--http3", VERSIONS),
    ("--http-version", VERSIONS),
    ("--http1.1", "HTTP/1.1 is what is sent in any case: leave it out"),
    ("--qps", RATE),
    ("--rps", RATE),
    ("--query-per-second", RATE),
    ("-D", FILE),
    ("-f", FILE),
    ("--body-file", FILE),
    ("--data-binary", "--data-binary is --data here, which sends every byte as it is"),
    ("--data-raw", "--data-raw is --data here"),
    ("-b", "-b is --data here"),
    ("-T", "-T is -H 'Content-Type: TYPE' here"),
    ("-A", "-A is -H 'Accept: TYPE' here"),
    ("-a", "-a is -H 'Authorization: Basic BASE64' here"),
    ("-u", "-u is -H 'Authorization: Basic BASE64' here"),
    ("--disable-keepalive", NO_KEEP_ALIVE),
    ("--no-keepalive", NO_KEEP_ALIVE),
    ("-p", "-p is --pipeline here, such as --pipeline 16"),
    ("-s", NO_SCRIPT),
    ("--script", NO_SCRIPT),
    ("--no-tui", "--no-tui is -q here"),
    ("-l", "-l is -L here"),
];

/// Replaces clap's suggestion of a value, or of a similar name with another meaning.
pub(crate) fn advise(error: &mut Error) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return };
    let tip = tip(word);
    // A load needs no checkout, so the word is no misspelt --root.
    let is_root =
        |similar: &ContextValue| matches!(similar, ContextValue::String(option) if option == "--root");
    if tip.is_some() || error.get(ContextKind::SuggestedArg).is_some_and(is_root) {
        error.remove(ContextKind::SuggestedArg);
        // The usage line of clap contains the similar option.
        error.insert(ContextKind::Usage, ContextValue::StyledStr(USAGE.into()));
    }
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

fn tip(word: &str) -> Option<&'static str> {
    let is_below_zero =
        word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if is_below_zero {
        return Some("no option takes a value below 0");
    }
    TIPS.iter().find(|(foreign, _)| *foreign == word).map(|(_, tip)| *tip)
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command};

    use super::*;
    use crate::command::load::Args;

    fn refused(words: &str) -> String {
        let command = Args::augment_args(Command::new("load")).color(clap::ColorChoice::Never);
        let mut error =
            command.try_get_matches_from(["load"].into_iter().chain(words.split(' '))).unwrap_err();
        advise(&mut error);
        error.to_string()
    }

    #[test]
    fn an_option_of_another_tool_is_translated() {
        insta::assert_snapshot!(refused("-z 30s http://127.0.0.1/"), @r"
        error: unexpected argument '-z' found

          tip: -z is -d here, such as -d 30s

        Usage: tare load [OPTIONS] [URL]...

        For more information, try '--help'.
        ");
        for words in ["--http-version 3", "--http3", "--rps 5"] {
            let told = refused(&format!("http://127.0.0.1/ {words}"));
            assert_eq!(told.matches("tip: ").count(), 1, "{told}");
            assert!(!told.contains("as a value") && !told.contains("similar"), "{told}");
        }
        assert!(refused("http://127.0.0.1/ --frobnicate").contains("unexpected argument '--frobnicate'"));
    }

    #[test]
    fn no_tip_is_about_an_option_that_exists() {
        let command = Args::augment_args(Command::new("load"));
        let names: Vec<String> = command
            .get_arguments()
            .flat_map(|option| {
                let long = option.get_long_and_visible_aliases().unwrap_or_default();
                let short = option.get_short().map(|short| format!("-{short}"));
                long.into_iter().map(|long| format!("--{long}")).chain(short).collect::<Vec<_>>()
            })
            .collect();
        let both: Vec<&str> = TIPS
            .iter()
            .map(|(foreign, _)| *foreign)
            .filter(|foreign| names.iter().any(|name| name == foreign))
            .collect();
        assert_eq!(both, [""; 0]);
    }
}
