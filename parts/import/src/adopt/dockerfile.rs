//! Interprets a Dockerfile as stages with instructions. The crate parse-dockerfile reads the syntax; this
//! module replaces variables and copies the relevant parts.

use parse_dockerfile::{Command, Flag, HereDoc, Instruction, Source};

use super::{AdoptError, shell};

/// Limit of an expanded value: nested variables could grow without end.
const VALUE_BYTES_MAX: usize = 64 << 10;

/// A stage: its base image and its instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DockerStage {
    pub name: Option<String>,
    pub image: String,
    pub acts: Vec<Act>,
}

/// One instruction. Known variables are replaced where Docker replaces them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    Copy(Copy),
    /// For a shell; with a flag for a mount that is not a cache.
    Run {
        script: String,
        has_mount: bool,
    },
    /// A program and its arguments, without a shell.
    Exec(Vec<String>),
    Workdir(String),
    Env(String, String),
    /// A variable of the build only.
    Arg(String, String),
    Expose(u16),
    User(String),
    Shell(Vec<String>),
    Entrypoint(Start),
    Cmd(Start),
}

/// `COPY` or `ADD`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Copy {
    /// The stage or image to copy from; absent for the entry's own files.
    pub from: Option<String>,
    pub sources: Vec<String>,
    /// Files whose text is part of the Dockerfile.
    pub texts: Vec<String>,
    pub to: String,
    pub mode: Option<String>,
    /// Whether it is `ADD`, which fetches URLs and unpacks archives.
    pub adds: bool,
}

/// `ENTRYPOINT` or `CMD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Start {
    Exec(Vec<String>),
    Shell(String),
}

/// Build variables and their values.
type Variables = Vec<(String, String)>;

/// # Errors
/// The text is no Dockerfile, has no stage, or a variable grows too long.
pub(super) fn read(text: &str, arguments: &[(String, String)]) -> Result<Vec<DockerStage>, AdoptError> {
    let invalid = |reason: String| AdoptError::Dockerfile { reason };
    let parsed = parse_dockerfile::parse(text).map_err(|error| invalid(error.to_string()))?;
    let mut reader = Reader { arguments, globals: Vec::new(), variables: Vec::new(), stages: Vec::new() };
    for instruction in &parsed.instructions {
        reader.take(instruction)?;
    }
    match reader.stages.is_empty() {
        true => Err(invalid("it has no FROM".to_owned())),
        false => Ok(reader.stages),
    }
}

struct Reader<'a> {
    /// Values that the suite gives to `ARG`.
    arguments: &'a [(String, String)],
    /// `ARG` before the first `FROM`.
    globals: Variables,
    /// Variables of the current stage.
    variables: Variables,
    stages: Vec<DockerStage>,
}

impl Reader<'_> {
    fn take(&mut self, instruction: &Instruction) -> Result<(), AdoptError> {
        match instruction {
            Instruction::From(from) => {
                let image = expand(unquoted(&from.image.value), &self.globals)?;
                let name = from.as_.as_ref().map(|(_, name)| name.value.to_lowercase());
                // A stage based on another stage inherits its variables.
                let inherited = self
                    .stages
                    .iter()
                    .position(|stage| stage.name.as_deref() == Some(&*image.to_lowercase()));
                self.variables = inherited.map(|at| self.environment(at)).unwrap_or_default();
                self.stages.push(DockerStage { name, image, acts: Vec::new() });
            }
            Instruction::Arg(arg) => self.argument(&arg.arguments.value)?,
            Instruction::Env(env) => {
                for (name, value) in assignments(&env.arguments.value) {
                    let value = self.expand(&value)?;
                    set(&mut self.variables, &name, &value);
                    self.act(Act::Env(name, value));
                }
            }
            Instruction::Workdir(workdir) => {
                let folder = self.expand(unquoted(&workdir.arguments.value))?;
                self.act(Act::Workdir(folder));
            }
            Instruction::Copy(copy) => self.copy(&copy.options, &copy.src, &copy.dest.value, false)?,
            Instruction::Add(add) => self.copy(&add.options, &add.src, &add.dest.value, true)?,
            Instruction::Run(run) => {
                let has_mount = run.options.iter().any(|flag| {
                    let kind = flag.value.as_ref().map(|value| value.value.as_ref()).unwrap_or_default();
                    flag.name.value == "mount" && !kind.contains("type=cache") && !kind.contains("type=tmpfs")
                });
                self.act(match &run.arguments {
                    Command::Shell(text) => {
                        Act::Run { script: script(text.value, &run.here_docs), has_mount }
                    }
                    other => Act::Exec(exec(other)),
                });
            }
            Instruction::Expose(expose) => {
                for port in &expose.arguments {
                    let port = self.expand(&port.value)?;
                    if let Ok(port) = port.split('/').next().unwrap_or_default().parse() {
                        self.act(Act::Expose(port));
                    }
                }
            }
            Instruction::User(user) => self.act(Act::User(user.arguments.value.to_string())),
            Instruction::Shell(shell) => {
                self.act(Act::Shell(shell.arguments.iter().map(|word| word.value.to_string()).collect()));
            }
            Instruction::Entrypoint(entrypoint) => self.act(Act::Entrypoint(start(&entrypoint.arguments))),
            Instruction::Cmd(cmd) => self.act(Act::Cmd(start(&cmd.arguments))),
            // Labels, volumes, health checks and signals do not affect the build.
            _ => {}
        }
        Ok(())
    }

    fn act(&mut self, act: Act) {
        if let Some(stage) = self.stages.last_mut() {
            stage.acts.push(act);
        }
    }

    fn argument(&mut self, text: &str) -> Result<(), AdoptError> {
        let given = |name: &str| {
            let known = self.arguments.iter().chain(&self.globals).find(|(known, _)| known == name);
            known.map(|(_, value)| value.clone())
        };
        let (name, default) = match text.split_once('=') {
            Some((name, default)) => (name.trim(), Some(unquoted(default.trim()))),
            None => (text.trim(), None),
        };
        let value = match given(name)
            .filter(|_| default.is_none() || self.arguments.iter().any(|(known, _)| known == name))
        {
            Some(value) => Some(value),
            None => default.map(|default| self.expand(default)).transpose()?,
        };
        let Some(value) = value else { return Ok(()) };
        if self.stages.is_empty() {
            set(&mut self.globals, name, &value);
        } else {
            set(&mut self.variables, name, &value);
            self.act(Act::Arg(name.to_owned(), value));
        }
        Ok(())
    }

    fn copy(&mut self, flags: &[Flag], sources: &[Source], to: &str, adds: bool) -> Result<(), AdoptError> {
        let flag = |wanted: &str| {
            flags.iter().find(|flag| flag.name.value == wanted).and_then(|flag| flag.value.as_ref())
        };
        let mut copy = Copy {
            from: flag("from").map(|from| self.expand(&from.value)).transpose()?,
            to: self.expand(to)?,
            mode: flag("chmod").map(|mode| mode.value.to_string()),
            adds,
            ..Copy::default()
        };
        for source in sources {
            match source {
                Source::Path(path) => copy.sources.push(self.expand(&path.value)?),
                Source::HereDoc(text) => copy.texts.push(text.value.to_string()),
                _ => {}
            }
        }
        self.act(Act::Copy(copy));
        Ok(())
    }

    fn expand(&self, text: &str) -> Result<String, AdoptError> {
        expand(text, &self.variables)
    }

    fn environment(&self, stage: usize) -> Variables {
        let acts = self.stages.get(stage).into_iter().flat_map(|stage| &stage.acts);
        acts.filter_map(|act| match act {
            Act::Env(name, value) => Some((name.clone(), value.clone())),
            _ => None,
        })
        .collect()
    }
}

fn start(command: &Command) -> Start {
    match command {
        Command::Shell(text) => Start::Shell(shell::joined(text.value)),
        other => Start::Exec(exec(other)),
    }
}

fn exec(command: &Command) -> Vec<String> {
    match command {
        Command::Exec(words) => words.value.iter().map(|word| word.value.to_string()).collect(),
        // Other forms do not exist.
        _ => Vec::new(),
    }
}

/// The script of a `RUN`: its line, or its here-documents without that line.
fn script(text: &str, documents: &[HereDoc]) -> String {
    let scripts: Vec<&str> =
        documents.iter().map(|document| document.value.trim_start_matches('\n')).collect();
    if scripts.is_empty() { shell::joined(text) } else { scripts.concat() }
}

/// Parses `NAME=VALUE ...`, or the old form `NAME VALUE`.
fn assignments(text: &str) -> Vec<(String, String)> {
    let first = text.split_whitespace().next().unwrap_or_default();
    if !first.contains('=') {
        let value = text.trim_start().strip_prefix(first).unwrap_or_default().trim();
        return vec![(first.to_owned(), unquoted(value).to_owned())];
    }
    let words = shlex::split(text).unwrap_or_default();
    let pair = |word: String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    words.into_iter().filter_map(pair).collect()
}

fn unquoted(text: &str) -> &str {
    let pair = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    pair('"').or_else(|| pair('\'')).unwrap_or(text)
}

fn set(variables: &mut Variables, name: &str, value: &str) {
    variables.retain(|(known, _)| known != name);
    variables.push((name.to_owned(), value.to_owned()));
}

/// Replaces known variables; unknown ones are left to the shell.
fn expand(text: &str, variables: &Variables) -> Result<String, AdoptError> {
    let mut done = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        done += &rest[..at];
        let after = &rest[at + 1..];
        let (name, end, default) = match after.strip_prefix('{') {
            Some(inner) => {
                let Some(close) = inner.find('}') else {
                    done.push('$');
                    rest = after;
                    continue;
                };
                let (name, default) = match inner[..close].split_once(":-") {
                    Some((name, default)) => (name, Some(default)),
                    None => (&inner[..close], None),
                };
                (name, close + 2, default)
            }
            None => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                (&after[..end], end, None)
            }
        };
        let value = variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        match value.or(default) {
            Some(value) => done += value,
            None => done += &rest[at..=at + end],
        }
        rest = &after[end..];
        if done.len() > VALUE_BYTES_MAX {
            return Err(AdoptError::Dockerfile {
                reason: "a variable of it repeats others without an end".to_owned(),
            });
        }
    }
    Ok(done + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acts(text: &str) -> Vec<Act> {
        read(text, &[("TARE".to_owned(), "given".to_owned())]).unwrap().pop().unwrap().acts
    }

    #[test]
    fn variables_have_the_values_of_their_stage() {
        let text = "ARG V=1\nFROM a:$V AS one\nENV A=x B=\"y z\"\n\
                    FROM one\nARG V\nARG TARE=default\nWORKDIR /${A}/$V$TARE/$HOME\nENV OLD form here\n";
        let stages = read(text, &[("TARE".to_owned(), "given".to_owned())]).unwrap();
        assert_eq!((stages[0].image.as_str(), stages[0].name.as_deref()), ("a:1", Some("one")));
        assert_eq!(stages[1].acts[2], Act::Workdir("/x/1given/$HOME".to_owned()));
        assert_eq!(stages[1].acts[3], Act::Env("OLD".to_owned(), "form here".to_owned()));
    }

    #[test]
    fn here_documents_are_scripts_and_files() {
        let run = acts("FROM a\nRUN <<EOF\nmake\nmake test\nEOF\n");
        assert_eq!(run, [Act::Run { script: "make\nmake test\n".to_owned(), has_mount: false }]);
        let copy = acts("FROM a\nCOPY <<EOF /x\nhello\nEOF\n");
        assert!(
            matches!(&copy[..], [Act::Copy(copy)] if copy.texts.concat().contains("hello") && copy.to == "/x"),
            "{copy:?}"
        );
    }

    #[test]
    fn a_variable_that_doubles_itself_ends() {
        let lines: String = (0..64).map(|_| "ENV A=$A$A\n").collect();
        let error = read(&format!("FROM a\nENV A=0123456789\n{lines}"), &[]).unwrap_err();
        assert!(error.to_string().contains("repeats others"), "{error}");
    }
}
