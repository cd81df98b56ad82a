//! What could not be carried over into a contract, and its words.

use crate::learn::LearnError;

/// A part of a source that the contract has not. `asked` is the request: its method and path.
#[derive(Debug, thiserror::Error)]
pub enum LeftOut {
    #[error("{asked}: it may change data; record it with --writes")]
    Writes { asked: String },
    #[error("{asked}: it holds \"{{{{\", where a contract begins a placeholder")]
    Braces { asked: String },
    #[error("{asked}: {why}")]
    Unsayable { asked: String, why: String },
    /// No answer, or none that can be required.
    #[error(transparent)]
    Answer(Box<LearnError>),
    #[error("{asked}: the header \"{header}\" is secret, and not recorded")]
    Secret { asked: String, header: String },
    #[error("{asked}: the document asks for the credentials \"{scheme}\", which are not sent")]
    Credentials { asked: String, scheme: String },
    #[error("{origin}: {requests} of the requests go to this other server")]
    Elsewhere { origin: String, requests: usize },
    #[error("\"{url}\" is no URL of http or https")]
    NoUrl { url: String },
    #[error("{asked}: the body of the answer is not there")]
    NoBody { asked: String },
    #[error("{asked}: the answer came from a cache")]
    Cached { asked: String },
    #[error("{asked}: the parameter \"{name}\" is in a cookie")]
    Cookie { asked: String, name: String },
    #[error("{asked}: no body of the type {types} can be made: JSON and forms can")]
    BodyType { asked: String, types: String },
    #[error("{asked}: no answer of the class 2xx or 3xx is there")]
    NoAnswer { asked: String },
}

impl From<LearnError> for LeftOut {
    fn from(error: LearnError) -> LeftOut {
        LeftOut::Answer(Box::new(error))
    }
}
