//! Reads the metadata of an entry: HttpArena's (`meta.json` beside a `Dockerfile`), or TechEmpower's
//! (`benchmark_config.json` or `config.toml` beside one Dockerfile for each test).

use std::path::{Path, PathBuf};

use serde_json::Value;
use tare_host::foreign;

use super::AdoptError;
use tare_base::document::decoded;
use tare_service::catalogue::Style;

/// Limit of a metadata file or Dockerfile, which usually has some kilobytes.
const BYTES_MAX: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    HttpArena,
    TechEmpower,
}

impl Suite {
    pub fn name(self) -> &'static str {
        match self {
            Suite::HttpArena => "HttpArena",
            Suite::TechEmpower => "TechEmpower FrameworkBenchmarks",
        }
    }

    /// Suffix of an adopted name, so that it differs from names of the catalogue.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Suite::HttpArena => "httparena",
            Suite::TechEmpower => "techempower",
        }
    }

    /// Things that the suite's runner provides to an entry and Tare does not.
    pub(super) fn given(self) -> &'static str {
        match self {
            Suite::HttpArena => {
                "what HttpArena starts an entry with: --network=host and limits of descriptors, cpusets, sysctl settings of \
                 the kernel, its data in /data (DATASET_PATH, static files), certificates in /certs, a database (DATABASE_URL)"
            }
            Suite::TechEmpower => {
                "what TechEmpower starts an entry with: limits of descriptors, sysctl settings of the kernel, a database \
                 at tfb-database, a proxy or a second server where it has one"
            }
        }
    }
}

/// The metadata of an entry.
#[derive(Debug, Clone)]
pub(super) struct SuiteEntry {
    pub suite: Suite,
    pub folder: PathBuf,
    /// Its name in its suite, with the test's name unless that is the default.
    pub name: String,
    pub framework: String,
    /// The name of the language's folder.
    pub language: String,
    pub url: Option<String>,
    pub style: Style,
    pub dockerfile: PathBuf,
    /// The port that it listens on in its suite.
    pub port: Option<u16>,
    /// Replaces the image's command.
    pub command: Option<String>,
    /// The contract that covers its answers; absent if it lacks some of them.
    pub contract: Option<&'static str>,
    /// Endpoints that the contract does not cover.
    pub not_asked: Vec<String>,
    /// Other tests of the entry, which would be separate services.
    pub other_tests: Vec<String>,
    /// Values that the suite's runner gives to `ARG`.
    pub arguments: Vec<(String, String)>,
}

/// Reads the entry in `folder`. `test` selects one of TechEmpower's tests; default: its default test.
pub(super) fn read(folder: &Path, test: Option<&str>) -> Result<SuiteEntry, AdoptError> {
    let folder =
        folder.canonicalize().map_err(|source| AdoptError::Read { path: folder.to_owned(), source })?;
    if folder.join("meta.json").is_file() {
        return match test {
            None => http_arena(&folder),
            Some(test) => Err(AdoptError::Metadata {
                path: folder.join("meta.json"),
                reason: format!(
                    "an entry of HttpArena has no tests to choose from, and \"{test}\" was asked for"
                ),
            }),
        };
    }
    for (name, read) in [("benchmark_config.json", of_json as fn(&Path, &str) -> _), ("config.toml", of_toml)]
    {
        let path = folder.join(name);
        if path.is_file() {
            let wrong = |reason| AdoptError::Metadata { path: path.clone(), reason };
            return tech_empower(&folder, read(&path, &text(&path)?)?, test).map_err(wrong);
        }
    }
    Err(AdoptError::NoEntry { folder })
}

/// The text of a file of the entry.
pub(super) fn text(path: &Path) -> Result<String, AdoptError> {
    let bytes = foreign::read(path, BYTES_MAX)
        .map_err(|source| AdoptError::Read { path: path.to_owned(), source })?;
    Ok(decoded(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned()))
}

fn json(path: &Path) -> Result<Value, AdoptError> {
    serde_json::from_str(&text(path)?)
        .map_err(|error| AdoptError::Metadata { path: path.to_owned(), reason: error.to_string() })
}

fn http_arena(folder: &Path) -> Result<SuiteEntry, AdoptError> {
    let path = folder.join("meta.json");
    let meta = json(&path)?;
    let name = folder_name(folder);
    let field = |name: &str| meta[name].as_str().map(str::to_owned);
    let tests: Vec<&str> = meta["tests"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let asked = ["baseline", "pipelined"];
    let is_asked = asked.iter().all(|test| tests.contains(test));
    let others = tests.iter().filter(|test| !asked.contains(test));
    Ok(SuiteEntry {
        suite: Suite::HttpArena,
        framework: field("display_name").unwrap_or_else(|| name.clone()),
        language: language(&field("language").unwrap_or_default()),
        url: field("repo").filter(|url| !url.is_empty()),
        style: match field("type").as_deref() {
            Some("production") => Style::Framework,
            Some("engine" | "infrastructure") => Style::Platform,
            _ => Style::FrameworkTuned,
        },
        dockerfile: folder.join("Dockerfile"),
        port: Some(8080),
        command: None,
        contract: is_asked.then_some("httparena"),
        not_asked: others.map(|test| (*test).to_owned()).collect(),
        other_tests: Vec::new(),
        arguments: Vec::new(),
        folder: folder.to_owned(),
        name,
    })
}

/// A test of a TechEmpower entry, from either metadata file.
#[derive(Debug, Default)]
struct Test {
    name: String,
    framework: Option<String>,
    language: Option<String>,
    dockerfile: Option<String>,
    command: Option<String>,
    port: Option<u16>,
    /// Kinds such as `json`, `plaintext` and `db`, and the path of each.
    urls: Vec<(String, String)>,
    is_platform: bool,
    is_stripped: bool,
}

const DEFAULT: &str = "default";

fn of_json(path: &Path, text: &str) -> Result<Vec<Test>, AdoptError> {
    let config: Value = serde_json::from_str(text)
        .map_err(|error| AdoptError::Metadata { path: path.to_owned(), reason: error.to_string() })?;
    let tests = config["tests"].as_array().into_iter().flatten().filter_map(Value::as_object).flatten();
    let of = |(name, test): (&String, &Value)| {
        let field = |name: &str| test[name].as_str().map(str::to_owned);
        let urls = test.as_object().into_iter().flatten();
        let url = |(key, value): (&String, &Value)| {
            Some((key.strip_suffix("_url")?.to_owned(), value.as_str()?.to_owned()))
        };
        Test {
            name: name.clone(),
            framework: config["framework"].as_str().map(str::to_owned),
            language: field("language"),
            dockerfile: field("dockerfile"),
            command: field("docker_cmd"),
            port: test["port"].as_u64().and_then(|port| port.try_into().ok()),
            urls: urls.filter_map(url).collect(),
            is_platform: test["classification"] == "Platform",
            is_stripped: test["approach"] == "Stripped",
        }
    };
    Ok(tests.map(of).collect())
}

fn of_toml(path: &Path, text: &str) -> Result<Vec<Test>, AdoptError> {
    let config: toml::Table = toml::from_str(text).map_err(|error| AdoptError::Metadata {
        path: path.to_owned(),
        reason: error.message().to_owned(),
    })?;
    let framework =
        config.get("framework").and_then(|framework| framework.get("name")).and_then(toml::Value::as_str);
    let of = |(name, test): (&String, &toml::Value)| {
        let field = |name: &str| test.get(name).and_then(toml::Value::as_str);
        let urls = test.get("urls").and_then(toml::Value::as_table).into_iter().flatten();
        Test {
            name: if name == "main" { DEFAULT.to_owned() } else { name.clone() },
            framework: framework.map(str::to_owned),
            urls: urls.filter_map(|(name, url)| Some((name.clone(), url.as_str()?.to_owned()))).collect(),
            is_platform: field("classification") == Some("Platform"),
            is_stripped: field("approach") == Some("Stripped"),
            ..Test::default()
        }
    };
    Ok(config.iter().filter(|(name, _)| *name != "framework").map(of).collect())
}

/// Selects one of an entry's tests.
fn tech_empower(folder: &Path, mut tests: Vec<Test>, wanted: Option<&str>) -> Result<SuiteEntry, String> {
    let names: Vec<String> = tests.iter().map(|test| test.name.clone()).collect();
    let wanted = wanted.unwrap_or(DEFAULT);
    let at = names.iter().position(|name| name == wanted);
    let Some(at) = at.or((wanted == DEFAULT && !names.is_empty()).then_some(0)) else {
        return Err(format!("it has no test \"{wanted}\", but {}", names.join(", ")));
    };
    let test = tests.swap_remove(at);
    // The name that the suite's runner uses for a test and for its Dockerfile.
    let own = test.framework.clone().unwrap_or_else(|| folder_name(folder));
    let name = if test.name == DEFAULT { own.clone() } else { format!("{own}-{}", test.name) };
    let path_of = |kind: &str| test.urls.iter().find(|(name, _)| name == kind).map(|(_, url)| url.as_str());
    let is_asked = path_of("plaintext") == Some("/plaintext") && path_of("json") == Some("/json");
    let asked = |kind: &str| is_asked && ["plaintext", "json"].contains(&kind);
    let parent = folder.parent().map(folder_name).unwrap_or_default();
    let file = test.dockerfile.clone().unwrap_or_else(|| format!("{name}.dockerfile"));
    Ok(SuiteEntry {
        suite: Suite::TechEmpower,
        framework: own,
        language: language(test.language.as_deref().unwrap_or(&parent)),
        url: None,
        style: match (test.is_platform, test.is_stripped) {
            (true, _) => Style::Platform,
            (_, true) => Style::FrameworkTuned,
            _ => Style::Framework,
        },
        dockerfile: folder.join(file),
        port: test.port,
        command: test.command,
        contract: is_asked.then_some("techempower"),
        not_asked: test.urls.iter().filter(|(kind, _)| !asked(kind)).map(|(_, url)| url.clone()).collect(),
        other_tests: names
            .into_iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, name)| name)
            .collect(),
        arguments: vec![
            ("TFB_TEST_NAME".to_owned(), name.clone()),
            ("BENCHMARK_ENV".to_owned(), "tare".to_owned()),
        ],
        folder: folder.to_owned(),
        name,
    })
}

fn folder_name(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The folder name of a language.
fn language(name: &str) -> String {
    match name.to_lowercase().as_str() {
        "js" | "ts" | "javascript" | "typescript" => "node".to_owned(),
        "c++" => "cpp".to_owned(),
        "c#" | "f#" => "csharp".to_owned(),
        "" => "other".to_owned(),
        name => plain(name),
    }
}

/// Converts a name to letters, digits and hyphens, as in folder names.
pub(super) fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "entry".to_owned() } else { parts.join("-") }
}
