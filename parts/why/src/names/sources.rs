//! Which files are the service's own: those below its folders. Go, Java and .NET name files without the folder that they were built in; for
//! these the folders are searched.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
};

use ignore::WalkBuilder;

/// Most files and folders that are looked at, and how deep.
const ENTRIES_MAX: usize = 50_000;
const DEPTH_MAX: usize = 16;
/// The largest `go.mod` that is read.
const GO_MOD_BYTES_MAX: u64 = 1 << 20;
/// Scripts, of which a runtime may give the name alone.
const SCRIPTS: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "py"];
/// Sources of Go: the second are those of its assembler.
const OF_GO: [&str; 2] = ["go", "s"];
/// Sources of programs for the JVM.
const OF_JVM: [&str; 5] = ["java", "kt", "scala", "clj", "groovy"];
/// Sources whose folders need not be those of their package.
const OF_ANY_FOLDER: &str = "kt";

/// The folders of the services.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// With a slash at the end, the innermost first.
    roots: Vec<String>,
    found: OnceCell<Found>,
}

/// What the folders have, by paths relative to theirs.
#[derive(Debug, Default)]
struct Found {
    of_jvm: Vec<String>,
    /// Modules of Go, each with its folder (empty, or with a slash at the end).
    modules: Vec<(String, String)>,
    /// Names of projects of .NET, which are those of their assemblies.
    projects: Vec<String>,
}

impl Sources {
    pub(super) fn below(roots: &[PathBuf]) -> Sources {
        let mut roots: Vec<String> = roots.iter().map(|root| format!("{}/", root.display())).collect();
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        Sources { roots, found: OnceCell::new() }
    }

    /// The file as it is shown, and whether it is the service's own: relative to its folder, if it is there.
    pub(super) fn place(&self, file: &str) -> (String, bool) {
        if let Some(rest) = self.roots.iter().find_map(|root| file.strip_prefix(root.as_str())) {
            return (rest.to_owned(), true);
        }
        let file = file.trim_start_matches("./");
        let extension = Path::new(file).extension().and_then(|end| end.to_str()).unwrap_or_default();
        let as_it_is = |is_own| (file.to_owned(), is_own);
        let found = || self.found.get_or_init(|| Found::below(&self.roots));
        match extension {
            _ if file.starts_with('/') => as_it_is(false),
            _ if !file.starts_with("..") && self.has(file) => as_it_is(true),
            _ if OF_GO.contains(&extension) => found().of_go(file).map_or(as_it_is(false), |own| (own, true)),
            "dll" => as_it_is(found().is_project(file)),
            _ if OF_JVM.contains(&extension) => {
                found().of_jvm(file, extension).map_or(as_it_is(false), |own| (own, true))
            }
            _ => as_it_is(SCRIPTS.contains(&extension)),
        }
    }

    fn has(&self, file: &str) -> bool {
        self.roots.iter().any(|root| Path::new(root).join(file).is_file())
    }
}

impl Found {
    fn below(roots: &[String]) -> Found {
        let mut found = Found::default();
        for root in roots {
            let walk = WalkBuilder::new(root).max_depth(Some(DEPTH_MAX)).build();
            for entry in walk.take(ENTRIES_MAX).flatten().filter(|entry| entry.path().is_file()) {
                if let Ok(path) = entry.path().strip_prefix(root) {
                    found.add(path, entry.path());
                }
            }
        }
        found
    }

    fn add(&mut self, path: &Path, whole: &Path) {
        let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        match text(path.extension()).as_str() {
            "mod" if path.ends_with("go.mod") => {
                let module = go_module(whole);
                let folder = path.parent().filter(|folder| *folder != Path::new(""));
                let folder = folder.map(|folder| format!("{}/", folder.display())).unwrap_or_default();
                self.modules.extend(module.map(|module| (format!("{module}/"), folder)));
            }
            "csproj" | "fsproj" | "vbproj" => self.projects.push(text(path.file_stem())),
            extension if OF_JVM.contains(&extension) => self.of_jvm.push(path.display().to_string()),
            _ => {}
        }
    }

    /// `shop/handlers/sign.go`, as `go build -trimpath` writes it.
    fn of_go(&self, file: &str) -> Option<String> {
        let of =
            |(module, folder): &(String, String)| Some(format!("{folder}{}", file.strip_prefix(module)?));
        self.modules.iter().find_map(of)
    }

    /// `com/example/Shop.java`, which may be `src/main/java/com/example/Shop.java`.
    fn of_jvm(&self, file: &str, extension: &str) -> Option<String> {
        let ends = |path: &&String, file: &str| {
            path.strip_suffix(file).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let is_it = |path: &&String| {
            let name = file.rsplit('/').next().unwrap_or(file);
            ends(path, file) || extension == OF_ANY_FOLDER && ends(path, name)
        };
        self.of_jvm.iter().find(is_it).cloned()
    }

    /// Without any project nothing is known of an assembly, but that it does not come with .NET.
    fn is_project(&self, file: &str) -> bool {
        let assembly = file.strip_suffix(".dll").unwrap_or(file);
        self.projects.is_empty() || self.projects.iter().any(|project| project == assembly)
    }
}

/// The name of the module in a `go.mod`.
fn go_module(path: &Path) -> Option<String> {
    let text = tare_host::foreign::read(path, GO_MOD_BYTES_MAX).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let name = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    Some(name.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_service_are_told_from_those_of_libraries() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("go.mod", "// a shop\nmodule shop\n\ngo 1.22\n");
        write("tools/go.mod", "module example.com/tools\n");
        write("src/main/java/com/example/Shop.java", "");
        write("src/main/kotlin/Item.kt", "");
        write("Shop/Shop.csproj", "");
        write("src/main.c", "");
        let sources = Sources::below(&[folder.path().to_owned()]);
        let within = folder.path().join("src/a.rs").display().to_string();
        let cases = [
            (within.as_str(), "src/a.rs", true),
            ("/usr/lib/go/src/net/http/server.go", "/usr/lib/go/src/net/http/server.go", false),
            ("shop/main.go", "main.go", true),
            ("example.com/tools/x/y.go", "tools/x/y.go", true),
            ("net/http/server.go", "net/http/server.go", false),
            ("github.com/gin-gonic/gin@v1.9.1/gin.go", "github.com/gin-gonic/gin@v1.9.1/gin.go", false),
            ("com/example/Shop.java", "src/main/java/com/example/Shop.java", true),
            ("org/example/Shop.java", "org/example/Shop.java", false),
            ("io/netty/Shop.java", "io/netty/Shop.java", false),
            ("com/example/Item.kt", "src/main/kotlin/Item.kt", true),
            ("Shop.dll", "Shop.dll", true),
            ("Newtonsoft.Json.dll", "Newtonsoft.Json.dll", false),
            ("./shop/main.go", "main.go", true),
            ("./net/http/server.go", "net/http/server.go", false),
            ("./runtime/asm_amd64.s", "runtime/asm_amd64.s", false),
            ("./src/main.c", "src/main.c", true),
            ("../sysdeps/x86/memcpy.c", "../sysdeps/x86/memcpy.c", false),
            ("node:net", "node:net", false),
            ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>", false),
            ("app.js", "app.js", true),
        ];
        for (file, shown, is_own) in cases {
            assert_eq!(sources.place(file), (shown.to_owned(), is_own), "{file}");
        }
        let none = Sources::default();
        assert_eq!(none.place("Shop.dll"), ("Shop.dll".to_owned(), true));
    }
}
