//! Discovers Python services: an application object for a server such as uvicorn, or a program.

use std::path::{Path, PathBuf};

use super::{Guess, sources, text};
use crate::{apart, catalogue::Step, install};

/// The application's constructor, the framework, and its server; `{app}` is the application's module path.
const APPLICATIONS: [(&str, &str, &str); 8] = [
    ("FastAPI(", "FastAPI", ASGI),
    ("Starlette(", "Starlette", ASGI),
    ("Litestar(", "Litestar", ASGI),
    ("Quart(", "Quart", ASGI),
    ("falcon.asgi.App(", "Falcon", ASGI),
    ("Flask(", "Flask", WSGI),
    ("falcon.App(", "Falcon", WSGI),
    ("get_wsgi_application(", "Django", WSGI),
];
const ASGI: &str = "uvicorn {app} --port {port}";
const WSGI: &str = "gunicorn {app} --bind 127.0.0.1:{port}";

pub(super) fn guesses(folder: &Path) -> Vec<Guess> {
    let environment = Environment::of(folder);
    let applications = sources(folder, ".py").into_iter().filter_map(|file| application(folder, &file));
    let guess = |(file, framework, command): (PathBuf, &str, String)| Guess {
        what: framework.to_owned(),
        file,
        build: environment.build(),
        command: environment.command(&command),
    };
    let mut found: Vec<Guess> = applications.map(guess).collect();
    let program = ["server.py", "main.py", "app.py"].into_iter().find(|name| folder.join(name).is_file());
    found.extend(program.map(|name| guess((PathBuf::from(name), "Python", format!("python {name}")))));
    found
}

/// The file, the framework and the command of a module that makes an application object.
fn application(folder: &Path, file: &Path) -> Option<(PathBuf, &'static str, String)> {
    let text = text(folder, file.to_str()?)?;
    let (name, (_, framework, server)) = text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        // At the top level of the module, with or without a type annotation.
        let name = name.split(':').next()?.trim_end();
        let is_name =
            !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let made = APPLICATIONS.iter().find(|(made, ..)| value.trim_start().starts_with(made))?;
        is_name.then_some((name, made))
    })?;
    let module = file.with_extension("");
    let module = module.to_str()?.replace('/', ".");
    let module = module.strip_suffix(".__init__").unwrap_or(&module);
    Some((file.to_owned(), *framework, server.replace("{app}", &format!("{module}:{name}"))))
}

/// Where its packages are installed.
enum Environment {
    /// A virtual environment created from a lock file, in any clone.
    Made(Vec<Step>),
    /// An existing virtual environment that no file defines.
    There(&'static str),
    /// The system's Python.
    Installed,
}

impl Environment {
    fn of(folder: &Path) -> Environment {
        if let Some(found) = install::of_python(folder, None) {
            return Environment::Made(found.steps);
        }
        let there =
            apart::ENVIRONMENTS.into_iter().find(|name| folder.join(name).join("pyvenv.cfg").exists());
        there.map_or(Environment::Installed, Environment::There)
    }

    fn build(&self) -> Vec<Step> {
        match self {
            Environment::Made(steps) => steps.clone(),
            Environment::There(_) | Environment::Installed => Vec::new(),
        }
    }

    fn command(&self, words: &str) -> String {
        match self {
            Environment::There(folder) => format!("{folder}/bin/{words}"),
            Environment::Made(_) => format!(".venv/bin/{words}"),
            Environment::Installed => format!(
                "python3 {}",
                words.strip_prefix("python ").map_or_else(|| format!("-m {words}"), str::to_owned)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::guessed;

    #[test]
    fn an_application_is_served_by_its_server() {
        assert_eq!(
            guessed(&[
                ("requirements.txt", "fastapi\nuvicorn"),
                ("shop/api.py", "import x\napp: FastAPI = FastAPI(title=1)\n")
            ]),
            [
                "FastAPI (shop/api.py): python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt && \
              .venv/bin/uvicorn shop.api:app --port {port}"
            ]
        );
        // An existing environment belongs to this clone only; the lock file creates another.
        let made = guessed(&[("uv.lock", ""), (".venv/pyvenv.cfg", ""), ("app.py", "app = FastAPI()\n")]);
        assert_eq!(made[0], "FastAPI (app.py): uv sync --frozen && .venv/bin/uvicorn app:app --port {port}");
        assert_eq!(
            guessed(&[("shop/__init__.py", "web = Flask(__name__)\n"), ("venv/pyvenv.cfg", "")]),
            ["Flask (shop/__init__.py): venv/bin/gunicorn shop:web --bind 127.0.0.1:{port}"]
        );
        assert_eq!(
            guessed(&[("main.py", "def f():\n    x.app = Flask(1)\n")]),
            ["Python (main.py): python3 main.py"]
        );
    }
}
