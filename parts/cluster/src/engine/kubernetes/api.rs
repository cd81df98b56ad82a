//! Calls of the API. Each has a deadline, a verb and a resource, so that an error names the missing
//! permission. Tare uses no watches: its callers query again.

use std::{error::Error, fmt, time::Duration};

use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::{
    Api, Client, Config,
    api::{DeleteParams, ListParams, ObjectList, PostParams, PropagationPolicy},
};
use serde::de::DeserializeOwned;
use tare_host::foreign;

use crate::engine::{EngineError, EngineName};

/// The time limit for an answer of the API.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// Objects per answer: a thousand pods in one answer are megabytes.
const PAGE: u32 = 250;
/// The most pages of objects that a batch can have.
const PAGES_MAX: usize = 10_000;

/// A call, for error messages.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub verb: &'static str,
    pub resource: &'static str,
    pub namespace: String,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} in the namespace \"{}\"", self.verb, self.resource, self.namespace)
    }
}

/// A cluster, from the kubeconfig or the service account of a pod.
#[derive(Clone)]
pub(super) struct Cluster {
    client: Client,
    answer_within: Duration,
}

impl Cluster {
    /// Finds the cluster; the connection is made at the first call.
    pub(super) async fn find() -> Result<Cluster, EngineError> {
        let config = Config::infer().await.map_err(|error| no_cluster(&error))?;
        let client = Client::try_from(config).map_err(|error| no_cluster(&error))?;
        Ok(Cluster { client, answer_within: ANSWER_WITHIN })
    }

    #[cfg(test)]
    pub(super) fn of(client: Client, answer_within: Duration) -> Cluster {
        Cluster { client, answer_within }
    }

    fn namespace(&self, namespace: Option<&str>) -> String {
        namespace.unwrap_or(self.client.default_namespace()).to_owned()
    }

    /// Creates a Job; returns `false` if one of this name exists.
    pub(super) async fn create(&self, namespace: Option<&str>, job: &Job) -> Result<bool, EngineError> {
        let call = Call { verb: "create", resource: "jobs", namespace: self.namespace(namespace) };
        let jobs: Api<Job> = Api::namespaced(self.client.clone(), &call.namespace);
        let parameters = PostParams::default();
        match self.within(jobs.create(&parameters, job)).await {
            Ok(_) => Ok(true),
            Err(Failed::Api(kube::Error::Api(status))) if status.is_already_exists() => Ok(false),
            Err(failed) => Err(failed.of(&call)),
        }
    }

    pub(super) async fn get(&self, namespace: Option<&str>, name: &str) -> Result<Option<Job>, EngineError> {
        let call = Call { verb: "get", resource: "jobs", namespace: self.namespace(namespace) };
        let jobs: Api<Job> = Api::namespaced(self.client.clone(), &call.namespace);
        self.within(jobs.get_opt(name)).await.map_err(|failed| failed.of(&call))
    }

    pub(super) async fn jobs(&self, namespace: Option<&str>, labels: &str) -> Result<Vec<Job>, EngineError> {
        let call = Call { verb: "list", resource: "jobs", namespace: self.namespace(namespace) };
        self.list(Api::namespaced(self.client.clone(), &call.namespace), labels, &call).await
    }

    pub(super) async fn pods(&self, namespace: Option<&str>, labels: &str) -> Result<Vec<Pod>, EngineError> {
        let call = Call { verb: "list", resource: "pods", namespace: self.namespace(namespace) };
        self.list(Api::namespaced(self.client.clone(), &call.namespace), labels, &call).await
    }

    async fn list<K>(&self, api: Api<K>, labels: &str, call: &Call) -> Result<Vec<K>, EngineError>
    where
        K: Clone + DeserializeOwned + fmt::Debug,
    {
        let mut found = Vec::new();
        let mut parameters = ListParams::default().labels(labels).limit(PAGE);
        for _ in 0..PAGES_MAX {
            let page: ObjectList<K> =
                self.within(api.list(&parameters)).await.map_err(|failed| failed.of(call))?;
            found.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => parameters = parameters.continue_token(&token),
                None => return Ok(found),
            }
        }
        Err(refused(call, "its list does not end"))
    }

    /// Deletes a Job; the control plane ends and removes its pods. A missing Job is no error.
    pub(super) async fn delete(&self, namespace: Option<&str>, name: &str) -> Result<(), EngineError> {
        let call = Call { verb: "delete", resource: "jobs", namespace: self.namespace(namespace) };
        let jobs: Api<Job> = Api::namespaced(self.client.clone(), &call.namespace);
        let parameters = DeleteParams {
            propagation_policy: Some(PropagationPolicy::Background),
            ..DeleteParams::default()
        };
        match self.within(jobs.delete(name, &parameters)).await {
            Ok(_) => Ok(()),
            Err(Failed::Api(kube::Error::Api(status))) if status.is_not_found() => Ok(()),
            Err(failed) => Err(failed.of(&call)),
        }
    }

    async fn within<T>(&self, call: impl Future<Output = kube::Result<T>>) -> Result<T, Failed> {
        match tokio::time::timeout(self.answer_within, call).await {
            Ok(answer) => answer.map_err(Failed::Api),
            Err(_) => Err(Failed::Late(self.answer_within)),
        }
    }
}

enum Failed {
    Api(kube::Error),
    Late(Duration),
}

impl Failed {
    fn of(self, call: &Call) -> EngineError {
        let engine = EngineName::Kubernetes;
        match self {
            Failed::Late(after) => {
                let said = format!("no answer within {after:?}: {call}");
                EngineError::Unreachable { engine, said }
            }
            Failed::Api(kube::Error::Api(status)) => refusal(&status, call),
            Failed::Api(kube::Error::Service(error)) => {
                EngineError::Unreachable { engine, said: format!("{}: {call}", chain(&*error)) }
            }
            Failed::Api(kube::Error::HyperError(error)) => {
                EngineError::Unreachable { engine, said: format!("{}: {call}", chain(&error)) }
            }
            Failed::Api(error) => refused(call, &chain(&error)),
        }
    }
}

/// The error for a failed answer of the API.
fn refusal(status: &kube::core::Status, call: &Call) -> EngineError {
    let engine = EngineName::Kubernetes;
    let said = one_line(&status.message);
    match status.code {
        // A quota also causes 403, but only this message concerns the user's permissions.
        403 if said.contains(" cannot ") => {
            let (verb, resource) = (call.verb.to_owned(), call.resource.to_owned());
            EngineError::Forbidden { engine, verb, resource, namespace: call.namespace.clone(), said }
        }
        401 => refused(call, "the credentials of the kubeconfig are not accepted, or have expired"),
        // Too many requests, or an API server that starts, ends, or has lost its store.
        408 | 429 | 500..=599 => EngineError::Unreachable { engine, said: format!("{said}: {call}") },
        _ => refused(call, &said),
    }
}

fn refused(call: &Call, said: &str) -> EngineError {
    EngineError::Refused { program: "kubernetes".to_owned(), said: format!("cannot {call}: {said}") }
}

fn no_cluster(error: &(dyn Error + 'static)) -> EngineError {
    EngineError::NoCluster { engine: EngineName::Kubernetes, reason: chain(error) }
}

/// An error with its causes in one line: the outermost is the least specific.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        // Some errors include their cause in their own text.
        if texts.last().is_none_or(|before| !before.contains(&text)) {
            texts.push(text);
        }
        next = error.source();
    }
    one_line(&texts.join(": "))
}

fn one_line(text: &str) -> String {
    foreign::quotable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("namespace", &self.client.default_namespace()).finish_non_exhaustive()
    }
}
