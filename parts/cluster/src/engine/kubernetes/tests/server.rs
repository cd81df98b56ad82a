//! The part of an API server that the adapter needs, in memory. It stores Jobs, makes pods for them on
//! request, selects by labels, pages its answers, and logs the requests.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Request, Response, request::Parts};
use http_body_util::BodyExt;
use k8s_openapi::api::batch::v1::Job;
use kube::{Client, client::Body};
use serde_json::{Value, json};

use super::Cluster;

#[derive(Debug, Clone, Default)]
pub(in crate::engine::kubernetes) struct Server(Arc<Mutex<Content>>);

#[derive(Debug, Default)]
struct Content {
    /// Jobs by namespace and name.
    jobs: BTreeMap<(String, String), Value>,
    /// Pods by namespace and name.
    pods: BTreeMap<(String, String), Value>,
    /// The status of the pods of new Jobs; without it they get no pods.
    pod_status: Option<Value>,
    log: Vec<String>,
    rights: BTreeSet<String>,
    /// Answers that are given first.
    next: VecDeque<(u16, Value)>,
    /// The number of objects per answer.
    page: Option<usize>,
    is_hiding: bool,
    is_silent: bool,
}

impl Server {
    pub(in crate::engine::kubernetes) fn cluster(&self) -> Cluster {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await?.to_bytes();
                if server.0.lock().unwrap().is_silent {
                    std::future::pending::<()>().await;
                }
                let (code, answer) = server.0.lock().unwrap().answer(&parts, &body);
                let body = match answer {
                    Value::String(text) => text,
                    answer => answer.to_string(),
                };
                Ok::<_, tower::BoxError>(
                    Response::builder().status(code).body(Body::from(body.into_bytes()))?,
                )
            }
        });
        let within = if self.0.lock().unwrap().is_silent {
            Duration::from_millis(30)
        } else {
            Duration::from_secs(20)
        };
        Cluster::of(Client::new(service, "default"), within)
    }

    pub(in crate::engine::kubernetes) fn put(&self, job: &Job) {
        self.0.lock().unwrap().put("default", serde_json::to_value(job).unwrap());
    }

    /// Sets the status of every Job.
    pub(in crate::engine::kubernetes) fn set_status(&self, status: Value) {
        self.0.lock().unwrap().jobs.values_mut().for_each(|job| job["status"] = status.clone());
    }

    /// From now on, each created Job gets its pods at once, with this status and distinct addresses.
    pub(in crate::engine::kubernetes) fn give_pods(&self, status: Value) {
        self.0.lock().unwrap().pod_status = Some(status);
    }

    /// Sets the status of every pod whose name begins with `name`.
    pub(in crate::engine::kubernetes) fn set_pod_status(&self, name: &str, status: &Value) {
        let mut content = self.0.lock().unwrap();
        let pods = content.pods.iter_mut().filter(|((_, of), _)| of.starts_with(name));
        pods.for_each(|(_, pod)| pod["status"] = status.clone());
    }

    pub(in crate::engine::kubernetes) fn jobs(&self) -> usize {
        self.0.lock().unwrap().jobs.len()
    }

    pub(in crate::engine::kubernetes) fn answer_next(&self, answer: (u16, Value)) {
        self.0.lock().unwrap().next.push_back(answer);
    }

    pub(in crate::engine::kubernetes) fn set_page(&self, objects: usize) {
        self.0.lock().unwrap().page = Some(objects);
    }

    /// Until the next creation, lists are empty, as before.
    pub(in crate::engine::kubernetes) fn hide_jobs_once(&self) {
        self.0.lock().unwrap().is_hiding = true;
    }

    pub(in crate::engine::kubernetes) fn never_answer(&self) {
        self.0.lock().unwrap().is_silent = true;
    }

    pub(in crate::engine::kubernetes) fn clear_log(&self) {
        self.0.lock().unwrap().log.clear();
    }

    /// The requests, one line each.
    pub(in crate::engine::kubernetes) fn log(&self) -> String {
        self.0.lock().unwrap().log.join("\n")
    }

    /// The requested verbs, as in the rules of a Role.
    pub(in crate::engine::kubernetes) fn rights(&self) -> BTreeSet<String> {
        self.0.lock().unwrap().rights.clone()
    }
}

impl Content {
    fn answer(&mut self, parts: &Parts, body: &[u8]) -> (u16, Value) {
        let query: BTreeMap<String, String> = form_pairs(parts.uri.query().unwrap_or_default());
        let line = format!("{} {} {}", parts.method, parts.uri, shown(&parts.method, body));
        self.log.push(line.trim_end().to_owned());
        let path: Vec<&str> = parts.uri.path().trim_matches('/').split('/').collect();
        let (group, namespace, resource, name) = match path[..] {
            ["apis", group, "v1", "namespaces", namespace, resource, ref name @ ..] => {
                (group, namespace, resource, name.first())
            }
            ["api", "v1", "namespaces", namespace, resource, ref name @ ..] => {
                ("", namespace, resource, name.first())
            }
            _ => return (404, json!({})),
        };
        let verb = match (parts.method.as_str(), name) {
            ("GET", None) => "list",
            ("GET", Some(_)) => "get",
            ("POST", _) => "create",
            ("DELETE", Some(_)) => "delete",
            _ => "other",
        };
        self.rights.insert(format!("{verb} {group}/{resource}"));
        if let Some(answer) = self.next.pop_front() {
            return answer;
        }
        let key = (namespace.to_owned(), name.map(|name| (*name).to_owned()).unwrap_or_default());
        match (verb, resource) {
            ("list", "jobs") => self.list(namespace, &query),
            ("list", "pods") => {
                let (label, value) = query["labelSelector"].split_once('=').unwrap();
                let is_asked = |((of, _), pod): &(&(String, String), &Value)| {
                    of == namespace && pod["metadata"]["labels"][label] == value
                };
                let items: Vec<&Value> = self.pods.iter().filter(is_asked).map(|(_, pod)| pod).collect();
                (200, json!({ "kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items }))
            }
            ("get", "jobs") => {
                self.jobs.get(&key).map_or_else(|| failure(404, "NotFound"), |job| (200, job.clone()))
            }
            ("create", "jobs") => self.create(namespace, body),
            ("delete", "jobs") => match self.jobs.remove(&key) {
                Some(job) => {
                    self.pods.retain(|(of, name), _| of != namespace || !name.starts_with(&key.1));
                    (200, job)
                }
                None => failure(404, "NotFound"),
            },
            _ => failure(404, "NotFound"),
        }
    }

    fn put(&mut self, namespace: &str, mut job: Value) {
        let namespace = job["metadata"]["namespace"].as_str().unwrap_or(namespace).to_owned();
        let name = job["metadata"]["name"].as_str().unwrap().to_owned();
        let second = self.jobs.len();
        job["metadata"]["creationTimestamp"] = format!("2026-01-02T03:04:{second:02}Z").into();
        self.jobs.insert((namespace, name), job);
    }

    fn create(&mut self, namespace: &str, body: &[u8]) -> (u16, Value) {
        self.is_hiding = false;
        let job: Value = serde_json::from_slice(body).unwrap();
        let name = job["metadata"]["name"].as_str().unwrap().to_owned();
        if self.jobs.contains_key(&(namespace.to_owned(), name)) {
            return failure(409, "AlreadyExists");
        }
        self.put(namespace, job.clone());
        self.make_pods(namespace, &job);
        (201, job)
    }

    /// Makes the pods of a Job, like the Job controller.
    fn make_pods(&mut self, namespace: &str, job: &Value) {
        let Some(status) = &self.pod_status else { return };
        let name = job["metadata"]["name"].as_str().unwrap();
        for index in 0..job["spec"]["completions"].as_u64().unwrap() {
            let number = self.pods.len() + 1;
            let mut pod = job["spec"]["template"].clone();
            let own = format!("{name}-{index}-abcde");
            pod["metadata"]["name"] = own.clone().into();
            pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] = name.into();
            pod["spec"]["nodeName"] = format!("n{number}").into();
            pod["status"] = status.clone();
            pod["status"]["podIP"] = format!("10.0.0.{number}").into();
            self.pods.insert((namespace.to_owned(), own), pod);
        }
    }

    fn list(&self, namespace: &str, query: &BTreeMap<String, String>) -> (u16, Value) {
        let (label, value) = query["labelSelector"].split_once('=').unwrap();
        let is_asked = |((of, _), job): &(&(String, String), &Value)| {
            of == namespace && job["metadata"]["labels"][label] == value && !self.is_hiding
        };
        let all: Vec<&Value> = self.jobs.iter().filter(is_asked).map(|(_, job)| job).collect();
        let from: usize = query.get("continue").map_or(0, |token| token.parse().unwrap());
        let limit: usize = query["limit"].parse().unwrap();
        let until = (from + self.page.unwrap_or(limit)).min(all.len());
        let metadata = if until < all.len() { json!({ "continue": until.to_string() }) } else { json!({}) };
        (
            200,
            json!({ "kind": "JobList", "apiVersion": "batch/v1", "metadata": metadata, "items": &all[from..until] }),
        )
    }
}

fn failure(code: u16, reason: &str) -> (u16, Value) {
    (
        code,
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": reason }),
    )
}

/// The name of a created object, or the options of a deletion.
fn shown(method: &http::Method, body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    match method.as_str() {
        "POST" => body["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
        "DELETE" => body["propagationPolicy"].to_string(),
        _ => String::new(),
    }
}

fn form_pairs(query: &str) -> BTreeMap<String, String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.replace("%2F", "/").replace("%3D", "="))).collect()
}
