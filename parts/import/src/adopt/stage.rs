//! Interprets one stage of a Dockerfile: a folder replaces its file system, and steps fill that folder.

use std::fmt::Write as _;

use super::paths::absolute;
use super::{
    command::{self, Fate},
    context::{Context, CopiedPlace},
    dockerfile::{Act, Copy, Start},
    image::Toolchain,
    note::Note,
    shell::{self, Whereabouts},
};
use tare_service::catalogue::Step;

/// Folders of all stages, and of the shared tools (from `pip`, `go install`, `cargo install`, `npm -g`).
pub(super) const ROOTS: &str = "stages";
pub(super) const TOOLS: &str = "stages/.tools";

/// Top-level folders of this machine's system, unless the entry makes them; HttpArena mounts the last two.
const SYSTEM: [&str; 16] = [
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys", "usr",
    "var", "data", "certs",
];
/// Folders below those that belong to the image.
const OWN: [&str; 2] = ["/usr/src", "/var/www"];
/// Folders of images into which tools are installed.
const TOOL_FOLDERS: [&str; 6] = [
    "/go/bin",
    concat!("/", "root/go/bin"),
    "/usr/local/cargo/bin",
    concat!("/", "root/.cargo/bin"),
    concat!("/", "root/.local/bin"),
    "/usr/local/go/bin",
];

/// A shell function that copies a file or a folder's content like `COPY`.
const PUT: &str = "put() { if [ -d \"$1\" ]; then mkdir -p \"$2\" && cp -RP \"$1\"/. \"$2\"; else case \"$2\" in */) mkdir -p \"$2\" ;; \
                   *) mkdir -p \"${2%/*}\" ;; esac && cp \"$1\" \"$2\"; fi; }";

#[derive(Debug, Clone, Default)]
pub(super) struct BuildStage {
    /// Relative to the service's folder.
    pub folder: String,
    pub workdir: String,
    /// Paths that the entry puts into the image, including everything below them.
    made: Vec<String>,
    /// The paths that are known to be folders.
    folders: Vec<String>,
    pub variables: Vec<(String, String)>,
    arguments: Vec<(String, String)>,
    shell: Vec<String>,
    pub entrypoint: Option<Start>,
    pub cmd: Option<Start>,
    pub exposed: Vec<u16>,
    pub toolchains: Vec<Toolchain>,
    pub packages: Vec<String>,
    pub steps: Vec<Step>,
    pub notes: Vec<Note>,
    /// Reasons why it cannot be built without a container engine.
    pub blocks: Vec<String>,
    /// Folders in which commands ran and may have left files.
    pub ran_in: Vec<String>,
    /// The text of all its commands, in which tuning options are searched.
    pub said: String,
    copies: Vec<String>,
}

/// Finds an earlier stage to copy from.
pub(super) type Earlier<'a> = dyn Fn(&str) -> Option<BuildStage> + 'a;

impl BuildStage {
    pub(super) fn new(name: &str) -> BuildStage {
        BuildStage { folder: format!("{ROOTS}/{name}"), workdir: "/".to_owned(), ..BuildStage::default() }
    }

    /// A stage that begins with the content of another.
    pub(super) fn after(name: &str, other: &BuildStage) -> BuildStage {
        let (folder, from) = (format!("{ROOTS}/{name}"), &other.folder);
        let copies = vec![format!("mkdir -p {from} {folder} && cp -RP {from}/. {folder}")];
        BuildStage {
            folder,
            workdir: other.workdir.clone(),
            made: other.made.clone(),
            folders: other.folders.clone(),
            variables: other.variables.clone(),
            shell: other.shell.clone(),
            entrypoint: other.entrypoint.clone(),
            cmd: other.cmd.clone(),
            toolchains: other.toolchains.clone(),
            copies,
            ..BuildStage::default()
        }
    }

    pub(super) fn act(&mut self, act: &Act, context: &mut Context, earlier: &Earlier) {
        match act {
            Act::Copy(copy) => self.copy(copy, context, earlier),
            Act::Run { script, has_mount } => {
                if *has_mount {
                    let line = first_line(script);
                    self.notes
                        .push(Note::lost(format!("a mount of `RUN {line}`"), "a build here has no mounts"));
                }
                self.run(script);
            }
            Act::Exec(words) => {
                let words: Vec<String> = words.iter().map(|word| shell::quoted(word)).collect();
                self.run(&words.join(" "));
            }
            Act::Workdir(folder) => {
                self.workdir = absolute(&self.workdir, folder);
                let folder = self.workdir.clone();
                self.make(&folder, true);
            }
            Act::Env(name, value) => set(&mut self.variables, name, value),
            Act::Arg(name, value) => set(&mut self.arguments, name, value),
            Act::Expose(port) => self.exposed.push(*port),
            Act::User(user) => {
                self.notes.push(Note::lost(format!("USER {user}"), "it runs as the user who runs tare"));
            }
            Act::Shell(words) => self.shell.clone_from(words),
            Act::Entrypoint(start) => {
                self.entrypoint = Some(start.clone());
                // Docker resets the command when the entry point is set.
                self.cmd = None;
            }
            Act::Cmd(start) => self.cmd = Some(start.clone()),
        }
    }

    /// Completes the stage after its last instruction.
    pub(super) fn finish(&mut self) {
        self.flush();
    }

    /// A copy with these variables only; others are set elsewhere.
    pub(super) fn with_variables(&self, variables: &[(String, String)]) -> BuildStage {
        BuildStage { variables: variables.to_vec(), arguments: Vec::new(), ..self.clone() }
    }

    // Paths.

    fn make(&mut self, path: &str, is_folder: bool) {
        if path != "/" {
            self.made.push(path.to_owned());
        }
        if is_folder {
            self.folders.push(path.to_owned());
        }
    }

    fn has_made(&self, path: &str) -> bool {
        self.made.iter().any(|made| is_below(path, made))
    }

    /// The location of an image's path on this machine.
    pub(super) fn lies(&self, path: &str, in_quotes: bool) -> Whereabouts {
        let path = path.trim_end_matches('/');
        if self.has_made(path) || OWN.iter().any(|own| is_below(path, own)) {
            return Whereabouts::Stage;
        }
        if let Some(tools) = TOOL_FOLDERS.iter().find(|tools| is_below(path, tools)) {
            return Whereabouts::Tools(tools.len() - "/bin".len());
        }
        let first = path.split('/').nth(1).unwrap_or_default();
        if SYSTEM.contains(&first) || in_quotes { Whereabouts::System } else { Whereabouts::Stage }
    }

    fn rewrite(&self, script: &str) -> shell::Rewritten {
        shell::rewrite(script, |path, in_quotes| self.lies(path, in_quotes))
    }

    /// The path relative to the service, quoted for a shell.
    fn here(&self, path: &str) -> Option<String> {
        match self.lies(path, false) {
            Whereabouts::Stage => Some(format!("{}{path}", self.folder)),
            Whereabouts::Tools(left_out) => Some(format!("{TOOLS}{}", &path[left_out..])),
            Whereabouts::System => None,
        }
    }

    // COPY.

    fn copy(&mut self, copy: &Copy, context: &mut Context, earlier: &Earlier) {
        if !copy.texts.is_empty() {
            self.texts(copy);
        }
        let to = absolute(&self.workdir, &copy.to);
        let is_folder = copy.to.ends_with('/')
            || [".", "./", "/"].contains(&copy.to.as_str())
            || copy.sources.len() > 1
            || self.folders.contains(&to);
        match &copy.from {
            Some(from) => match earlier(from) {
                Some(stage) => self.copy_from(&stage, copy, &to, is_folder),
                None => self.copy_from_image(from, copy),
            },
            None => self.copy_of_entry(copy, &to, is_folder, context),
        }
    }

    fn copy_of_entry(&mut self, copy: &Copy, to: &str, is_folder: bool, context: &mut Context) {
        for source in &copy.sources {
            if source.contains("://") {
                self.fetch(source, to, is_folder);
                continue;
            }
            let places = context.find(source);
            if places.is_empty() {
                // A pattern may match nothing if another source is copied.
                if !source.contains(['*', '?', '[']) {
                    self.blocks.push(format!("it copies {source}, which is not in the entry"));
                }
                continue;
            }
            for place in places {
                self.put_place(&place, to, is_folder, copy);
            }
        }
    }

    fn put_place(&mut self, place: &CopiedPlace, to: &str, is_folder: bool, copy: &Copy) {
        let name = place.here.rsplit('/').next().unwrap_or_default().to_owned();
        let is_archive =
            [".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2"].iter().any(|end| name.ends_with(end));
        if copy.adds && is_archive {
            self.make(to, true);
            let to = format!("{}{to}", self.folder);
            self.copies.push(format!(
                "mkdir -p {0} && tar -xf {1} -C {0}",
                shell::quoted(&to),
                shell::quoted(&place.here)
            ));
            return;
        }
        let into = format!("{}/{name}", to.trim_end_matches('/'));
        match (place.is_folder, is_folder || place.is_folder) {
            // A folder copied to the root of the image: each of its entries gets a path there.
            (true, _) if to == "/" => {
                place.names.iter().for_each(|name| self.make(&format!("/{name}"), false))
            }
            (true, _) => self.make(to, true),
            (false, true) => self.make(&into, false),
            (false, false) => self.make(to, false),
        }
        let target = if is_folder || place.is_folder {
            format!("{}/", to.trim_end_matches('/'))
        } else {
            to.to_owned()
        };
        self.put(&shell::quoted(&place.here), &target);
        if let Some(mode) = &copy.mode {
            let changed = if place.is_folder {
                to.to_owned()
            } else if is_folder {
                into
            } else {
                to.to_owned()
            };
            self.copies.push(format!(
                "chmod -R {} {}",
                shell::quoted(mode),
                shell::quoted(&format!("{}{changed}", self.folder))
            ));
        }
    }

    fn copy_from(&mut self, stage: &BuildStage, copy: &Copy, to: &str, is_folder: bool) {
        for source in &copy.sources {
            let path = absolute("/", source);
            let Some(from) = stage.here(&path) else {
                let what = format!("{path} of the image, which the entry copies");
                self.notes.push(Note::lost(
                    what,
                    "it is of the image's system: here it is this machine's, if it has it",
                ));
                continue;
            };
            let name = path.rsplit('/').next().unwrap_or_default();
            let is_folder =
                is_folder || source.contains('*') || stage.folders.contains(&path) || source.ends_with('/');
            let target = if is_folder && !to.ends_with('/') { format!("{to}/") } else { to.to_owned() };
            let is_system = self.lies(to, false) == Whereabouts::System;
            match is_folder && is_system {
                true => self.make(&format!("{}/{name}", to.trim_end_matches('/')), false),
                false if to == "/" => self.make(&format!("/{name}"), false),
                false => self.make(to, is_folder),
            }
            self.put_pattern(&from, &target);
        }
    }

    /// Copies programs that another image provides.
    fn copy_from_image(&mut self, image: &str, copy: &Copy) {
        let sources = copy.sources.join(", ");
        match super::image::image(image) {
            super::image::Image::Toolchains(toolchains) => {
                self.toolchains.extend(toolchains);
                let what = format!("{sources} of the image {image}");
                self.notes.push(Note::lost(what, "the toolchain of this machine is used"));
            }
            super::image::Image::System => {
                let what = format!("{sources} of the image {image}");
                self.notes.push(Note::lost(
                    what,
                    "it is of the image's system: here it is this machine's, if it has it",
                ));
            }
            super::image::Image::Unknown if image.contains("astral-sh/uv") => {
                self.toolchains.push(super::image::UV)
            }
            super::image::Image::Unknown => {
                self.blocks.push(format!(
                    "it copies {sources} out of the image {image}, which is nothing that Tare knows"
                ));
            }
        }
    }

    /// Copies files whose text is in the Dockerfile.
    fn texts(&mut self, copy: &Copy) {
        let to = absolute(&self.workdir, &copy.to);
        self.make(&to, false);
        let path = shell::quoted(&format!("{}{to}", self.folder));
        for text in &copy.texts {
            self.copies.push(format!(
                "mkdir -p \"$(dirname {path})\" && printf %s {} > {path}",
                shell::quoted(text)
            ));
        }
    }

    /// Handles `ADD URL`.
    fn fetch(&mut self, url: &str, to: &str, is_folder: bool) {
        let name = url.rsplit('/').next().unwrap_or_default();
        let to = if is_folder { format!("{}/{name}", to.trim_end_matches('/')) } else { to.to_owned() };
        self.make(&to, false);
        let path = shell::quoted(&format!("{}{to}", self.folder));
        self.flush();
        let script = format!("mkdir -p \"$(dirname {path})\" && curl -fsSL -o {path} {}", shell::quoted(url));
        self.steps.push(Step { command: sh(&script), network: true, ..Step::default() });
    }

    fn put(&mut self, from: &str, to: &str) {
        self.copies.push(format!("put {from} {}", shell::quoted(&format!("{}{to}", self.folder))));
    }

    /// Copies a path of another stage; a shell expands its pattern.
    fn put_pattern(&mut self, from: &str, to: &str) {
        if !from.contains(['*', '?', '[']) {
            return self.put(&shell::quoted(from), to);
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+*?[]".contains(c);
        let pattern: String = from.chars().filter(|c| is_plain(*c)).collect();
        let to = shell::quoted(&format!("{}{to}", self.folder));
        self.copies.push(format!("for one in {pattern}; do put \"$one\" {to}; done"));
    }

    fn flush(&mut self) {
        let copies = std::mem::take(&mut self.copies);
        if !copies.is_empty() {
            let helper = if copies.iter().any(|line| line.contains("put ")) {
                format!("{PUT}\n")
            } else {
                String::new()
            };
            let script = format!("{helper}{}\n", copies.join("\n"));
            self.steps
                .push(Step { command: vec!["sh".to_owned(), "-ec".to_owned(), script], ..Step::default() });
        }
    }

    // RUN.

    fn run(&mut self, script: &str) {
        let _a_string_takes_it = writeln!(self.said, "{script}");
        let statements: Vec<String> = shell::statements(script)
            .into_iter()
            .filter_map(|commands| {
                let kept: Vec<String> = commands.iter().filter_map(|command| self.command(command)).collect();
                (!kept.is_empty()).then(|| kept.join(" &&\n"))
            })
            .collect();
        if statements.is_empty() {
            return;
        }
        self.flush();
        self.ran_in.push(self.workdir.clone());
        let body = statements.join("\n");
        let network = command::fetches(&body);
        let script = format!("{}{body}\n", self.prelude());
        self.steps.push(Step { command: self.by_shell(script), network, ..Step::default() });
    }

    fn command(&mut self, command: &str) -> Option<String> {
        let rewritten = self.rewrite(command);
        match command::fate(command, |part| self.rewrite(part).system) {
            Fate::Keep => Some(rewritten.text),
            Fate::Packages(names) => {
                self.packages.extend(names);
                None
            }
            Fate::Needless => None,
            Fate::LeftOut(why) => {
                self.notes.push(Note::lost(format!("`{}`", first_line(command)), why));
                None
            }
            Fate::Blocks(why) => {
                self.blocks.push(format!("`{}`: {why}", first_line(command)));
                None
            }
        }
    }

    /// The shell of the stage, by its name without a folder, and its options.
    fn by_shell(&self, script: String) -> Vec<String> {
        let known = ["sh", "bash", "dash"];
        let mut words = self.shell.iter().map(|word| word.rsplit('/').next().unwrap_or(word).to_owned());
        match words.next().filter(|program| known.contains(&program.as_str())) {
            Some(program) => [program].into_iter().chain(words).chain([script]).collect(),
            None => sh(&script),
        }
    }

    /// Sets the working folder and the variables for a script of this stage.
    pub(super) fn prelude(&self) -> String {
        let mut text = format!("R=\"$PWD/{}\" T=\"$PWD/{TOOLS}\"\n", self.folder);
        text += &self.paths();
        for (name, value) in self.variables.iter().chain(&self.arguments) {
            text += &self.export(name, value);
        }
        let workdir = self.rewrite(&shell::quoted(&self.workdir)).text;
        let folder = if self.workdir == "/" { "\"$R\"".to_owned() } else { workdir };
        text + &format!("mkdir -p {folder} && cd {folder} || exit 1\n")
    }

    pub(super) fn export(&self, name: &str, value: &str) -> String {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return String::new();
        }
        // A shell expands variables that were unknown when the Dockerfile was read.
        let escaped: String = value
            .chars()
            .flat_map(|c| ['\\', c].into_iter().skip(usize::from(!"\"\\`".contains(c))))
            .collect();
        let plain = escaped.replace("$(", "\\$(");
        format!("export {name}={}\n", self.rewrite(&format!("\"{plain}\"")).text)
    }

    /// Whether only a shell can set this value.
    pub(super) fn needs_shell(&self, value: &str) -> bool {
        let quoted = format!("\"{value}\"");
        value.contains('$') || self.rewrite(&quoted).text != quoted
    }

    /// Sets the search paths of programs and libraries, and the folders that tools install into.
    pub(super) fn paths(&self) -> String {
        let folders = |is_one: fn(&str) -> bool| {
            let mut all: Vec<&str> = self
                .made
                .iter()
                .filter_map(|made| Some(made.rsplit_once('/')?.0))
                .filter(|f| is_one(f))
                .collect();
            all.dedup();
            all.iter().map(|folder| format!("$R{folder}:")).collect::<String>()
        };
        let has = |name: &str| self.toolchains.iter().any(|toolchain| toolchain.name == name);
        let tools = if self.toolchains.is_empty() { "" } else { "$T/bin:" };
        let programs = folders(|folder| folder.ends_with("/bin") || folder.ends_with("/sbin"));
        let libraries = folders(|folder| folder.ends_with("/lib"));
        let mut text = String::new();
        if !(tools.is_empty() && programs.is_empty()) {
            text += &format!("export PATH=\"{programs}{tools}$PATH\"\n");
        }
        if !libraries.is_empty() {
            text += &format!("export LD_LIBRARY_PATH=\"{libraries}$LD_LIBRARY_PATH\"\n");
        }
        for (name, variables) in [
            ("Go", "GOBIN=\"$T/bin\""),
            ("Rust", "CARGO_INSTALL_ROOT=\"$T\""),
            ("Node", "npm_config_prefix=\"$T\""),
            ("Ruby", "GEM_HOME=\"$T\" BUNDLE_PATH=\"$T/bundle\" BUNDLE_USER_HOME=\"$T/bundle\""),
        ] {
            if has(name) {
                text += &format!("export {variables}\n");
            }
        }
        text
    }

    /// The command's words quoted for a shell, with paths of the image rewritten.
    pub(super) fn line(&self, words: &[String]) -> String {
        let quoted: Vec<String> = words.iter().map(|word| shell::quoted(word)).collect();
        self.rewrite(&quoted.join(" ")).text
    }

    pub(super) fn script(&self, text: &str) -> String {
        self.rewrite(text).text
    }
}

pub(super) fn sh(script: &str) -> Vec<String> {
    vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()]
}

fn set(variables: &mut Vec<(String, String)>, name: &str, value: &str) {
    variables.retain(|(known, _)| known != name);
    variables.push((name.to_owned(), value.to_owned()));
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn first_line(command: &str) -> &str {
    command.lines().next().unwrap_or_default().trim()
}
