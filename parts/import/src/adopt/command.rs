//! Classifies one command of a `RUN` line: kept, replaced by system packages, left out, or a reason why the
//! image cannot be built without a container engine.

use super::shell;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It becomes a step of the build.
    Keep,
    /// It installs these packages of the image's system.
    Packages(Vec<String>),
    /// It can be dropped without loss.
    Needless,
    /// It is left out, for this reason.
    LeftOut(&'static str),
    /// It is essential but impossible here, for this reason.
    Blocks(&'static str),
}

const OF_SYSTEM: &str = "it changes the system, which here is this machine's";
const OF_USER: &str = "it changes the settings of the user who builds";
const OTHER_PACKAGES: &str =
    "packages of another system than Debian: install what they bring, if it is missing";

/// Programs that change an image's system and have no use in a build folder.
const SYSTEM: [&str; 24] = [
    "ldconfig",
    "useradd",
    "groupadd",
    "adduser",
    "addgroup",
    "usermod",
    "passwd",
    "chown",
    "chgrp",
    "setcap",
    "sysctl",
    "ulimit",
    "update-ca-certificates",
    "update-alternatives",
    "dpkg",
    "service",
    "systemctl",
    "apt-key",
    "apt-mark",
    "add-apt-repository",
    "locale-gen",
    "rustup",
    "corepack",
    "docker-php-ext-install",
];
/// Programs that write to paths in their arguments.
const WRITERS: [&str; 16] = [
    "mkdir", "ln", "cp", "mv", "install", "touch", "chmod", "tee", "sed", "rmdir", "curl", "wget", "tar",
    "unzip", "git", "rsync",
];
/// Options whose value is an output path.
const OUTPUTS: [&str; 9] =
    ["-o", "-O", "-C", "-d", "--output", "--target", "--prefix", "--directory", "--root"];
/// Words of commands that fetch from the network.
const FETCHES: [&str; 25] = [
    "pip", "pip3", "uv", "poetry", "npm", "yarn", "pnpm", "bun", "deno", "cargo", "go", "mvn", "mvnw",
    "gradle", "gradlew", "lein", "dotnet", "bundle", "gem", "composer", "curl", "wget", "git", "mix",
    "swift",
];

/// Classifies a command; of a compound command, the gravest fate of its parts counts. `system` returns the
/// paths in a text that belong to this machine's system rather than to the image.
pub(super) fn fate(command: &str, system: impl Fn(&str) -> Vec<String>) -> Fate {
    let parts = shell::parts(command);
    let pipes = shell::pipeline(command);
    if pipes.len() > 1 && runs_what_it_fetched(&pipes) {
        return Fate::LeftOut("it runs a script that it fetches from the network");
    }
    let fates: Vec<Fate> = parts.iter().map(|part| of_part(part, &system(part))).collect();
    let gravity = |fate: &Fate| match fate {
        Fate::Blocks(_) => 4,
        Fate::Packages(_) => 3,
        Fate::LeftOut(_) => 2,
        Fate::Keep => 1,
        Fate::Needless => 0,
    };
    // The first of the parts with the gravest fate.
    fates.into_iter().rev().max_by_key(gravity).unwrap_or(Fate::Keep)
}

fn of_part(command: &str, system: &[String]) -> Fate {
    let words = shell::words(command);
    let Some((program, arguments)) = program(&words) else { return Fate::Keep };
    let first = arguments.iter().find(|word| !word.starts_with('-')).map(String::as_str);
    let says = |word: &str| arguments.iter().any(|other| other == word);
    match program {
        "true" | ":" => Fate::Needless,
        "apt-get" | "apt" | "aptitude" if says("install") => Fate::Packages(packages(arguments)),
        "apt-get" | "apt" | "aptitude" => Fate::Needless,
        "apk" | "yum" | "dnf" | "microdnf" | "tdnf" | "pacman" | "zypper" => Fate::LeftOut(OTHER_PACKAGES),
        "git" | "npm" | "yarn" | "pnpm" if first == Some("config") => Fate::LeftOut(OF_USER),
        "bundle" if first == Some("config") && says("--global") => Fate::LeftOut(OF_USER),
        program if SYSTEM.contains(&program) => Fate::LeftOut(OF_SYSTEM),
        "make" | "gmake" | "ninja" if arguments.iter().any(|word| word.starts_with("install")) => {
            installs(arguments, system)
        }
        "cmake" | "meson" if says("--install") || says("install") => installs(arguments, system),
        "cd" | "pushd" if !system.is_empty() => {
            Fate::Blocks("what follows would be done in this machine's own system")
        }
        "rm" if !system.is_empty() => Fate::Needless,
        program if WRITERS.contains(&program) && system.iter().any(|path| !is_device(path)) => {
            Fate::LeftOut(OF_SYSTEM)
        }
        _ if writes_to(command, &words, system) => Fate::LeftOut(OF_SYSTEM),
        _ => Fate::Keep,
    }
}

/// Whether a command may fetch from the network.
pub(super) fn fetches(command: &str) -> bool {
    command.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| FETCHES.contains(&word))
}

/// An installation is kept only if it names a target folder and no path of this machine's system.
fn installs(arguments: &[String], system: &[String]) -> Fate {
    let names_folder = arguments.iter().any(|word| {
        ["DESTDIR=", "PREFIX=", "prefix=", "--prefix"].iter().any(|begin| word.starts_with(begin))
    });
    match names_folder && system.is_empty() {
        true => Fate::Keep,
        false => Fate::Blocks("it would install into this machine's own system"),
    }
}

/// The program of a command and its arguments, without prefixes such as `sudo` and assignments.
fn program(words: &[String]) -> Option<(&str, &[String])> {
    let is_before =
        |word: &&String| ["sudo", "time", "exec", "env"].contains(&word.as_str()) || is_assignment(word);
    let at = words.iter().take_while(is_before).count();
    let (program, arguments) = words.get(at..)?.split_first()?;
    Some((program.rsplit('/').next().unwrap_or(program), arguments))
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

fn runs_what_it_fetched(parts: &[String]) -> bool {
    let names = |part: &String, names: &[&str]| {
        program(&shell::words(part)).is_some_and(|(program, _)| names.contains(&program))
    };
    parts.iter().any(|part| names(part, &["curl", "wget"]))
        && parts.iter().any(|part| names(part, &["sh", "bash", "python3"]))
}

/// The packages of an `apt-get install`, without versions.
fn packages(arguments: &[String]) -> Vec<String> {
    let names = arguments.iter().filter(|word| !word.starts_with('-') && *word != "install");
    let is_name = |name: &&str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c))
    };
    names.map(|name| name.split('=').next().unwrap_or_default()).filter(is_name).map(str::to_owned).collect()
}

/// Whether its output, or the value of an output option, goes to a path of the system.
fn writes_to(command: &str, words: &[String], system: &[String]) -> bool {
    let is_redirected =
        |path: &str| command.match_indices(path).any(|(at, _)| command[..at].trim_end().ends_with('>'));
    let is_output = |path: &str| {
        words.windows(2).any(|pair| OUTPUTS.contains(&pair[0].as_str()) && pair[1].starts_with(path))
            || words
                .iter()
                .any(|word| OUTPUTS.iter().any(|output| word.starts_with(&format!("{output}={path}"))))
    };
    system.iter().filter(|path| !is_device(path)).any(|path| is_redirected(path) || is_output(path))
}

/// Whether a path is a device such as `/dev/null`.
fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_a_system_is_no_step() {
        let of = |command: &str, system: &[&str]| {
            let system: Vec<String> = system.iter().map(|path| (*path).to_owned()).collect();
            match fate(command, |part| {
                system.iter().filter(|path| part.contains(path.as_str())).cloned().collect()
            }) {
                Fate::Keep => "keep".to_owned(),
                Fate::Packages(names) => names.join(" "),
                Fate::Needless => "needless".to_owned(),
                Fate::LeftOut(_) => "left out".to_owned(),
                Fate::Blocks(_) => "blocks".to_owned(),
            }
        };
        for (command, system, wanted) in [
            ("apt-get update -yqq", vec![], "needless"),
            (
                "DEBIAN_FRONTEND=x apt-get -y install --no-install-recommends g++ libpq-dev=15.1",
                vec![],
                "g++ libpq-dev",
            ),
            ("apk add --no-cache git", vec![], "left out"),
            ("rm -rf /var/lib/apt/lists/*", vec!["/var/lib/apt/lists/"], "needless"),
            ("rm -rf build", vec![], "keep"),
            ("echo x > /etc/y", vec!["/etc/y"], "left out"),
            ("cc x 2>/dev/null", vec!["/dev/null"], "keep"),
            ("curl -fsSL https://a/b | sudo bash -", vec![], "left out"),
            ("curl -L https://a/b | tar xz", vec![], "keep"),
            ("make -j4 install", vec![], "blocks"),
            ("make install PREFIX=/opt/x", vec![], "keep"),
            ("/usr/bin/make -C src install PREFIX=/usr", vec!["/usr"], "blocks"),
            ("git config --global a b", vec![], "left out"),
            ("cargo build --release", vec![], "keep"),
            ("curl -L https://a/b | tar -xz -C /usr/local", vec!["/usr/local"], "left out"),
            ("go build -o /usr/bin/x .", vec!["/usr/bin/x"], "left out"),
            ("gcc -I/usr/include x.c", vec!["/usr/include"], "keep"),
            ("cd /usr/lib/x", vec!["/usr/lib/x"], "blocks"),
            ("test -f x || make install", vec![], "blocks"),
            ("if true; then apt-get install -y gcc; fi", vec![], "gcc"),
            ("apt-get update || true", vec![], "needless"),
            ("for f in *.c; do gcc -c $f; done", vec![], "keep"),
        ] {
            assert_eq!(of(command, &system), wanted, "{command}");
        }
        assert!(
            fetches("RUSTFLAGS=x cargo build") && fetches("./mvnw package") && !fetches("gcc -o going x.c")
        );
    }
}
