//! Parts of a source that could not become part of a contract, with their messages.

use super::style::StyleError;
use tare_service::learn::LearnError;

/// A part of a source that the contract lacks. `asked` is the request: its method and path.
#[derive(Debug, thiserror::Error)]
pub enum LeftOutPart {
    #[error("{asked}: it may change data; record it with --writes")]
    Writes { asked: String },
    #[error("{asked}: {why}")]
    Unsayable { asked: String, why: String },
    /// No answer came, or none that a contract can require.
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
    #[error("exchange {number} of the file cannot be read: {reason}")]
    NoExchange { number: usize, reason: String },
    #[error("{asked}: the body of the answer is not there")]
    NoBody { asked: String },
    #[error("{asked}: {recorded} of the {bytes} bytes of the answer's body are there")]
    CutAnswer { asked: String, recorded: usize, bytes: u64 },
    #[error("{asked}: the body of the answer is in {charset}, and a contract can say UTF-8 alone")]
    Charset { asked: String, charset: String },
    #[error("{asked}: the answer came from a cache")]
    Cached { asked: String },
    #[error("{asked}: the parameter \"{name}\" {why}")]
    Parameter { asked: String, name: String, why: ParameterError },
    #[error("{asked}: its path needs \"{name}\", and no parameter has this name")]
    Hole { asked: String, name: String },
    #[error("{asked}: \"{reference}\" is not in the document")]
    Reference { asked: String, reference: String },
    #[error("{asked}: {why}")]
    Body { asked: String, why: BodyError },
    /// The request is recorded anyway.
    #[error("{asked}: the body, which need not be there: {why}")]
    OptionalBody { asked: String, why: BodyError },
    #[error("{asked}: no answer of the class 2xx or 3xx is there")]
    NoAnswer { asked: String },
}

/// Why a parameter is not sent. Each message continues a sentence after the parameter's name.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    #[error(transparent)]
    Style(#[from] StyleError),
    #[error("is in \"{0}\", where OpenAPI has no parameters")]
    Place(String),
    #[error("has no value: its schema is not in the document, never ends, or asks for a file")]
    NoValue,
    #[error("is of the type {0}, and no value of it can be made: of JSON and text it can")]
    MediaType(String),
    #[error("is ignored, as OpenAPI says of a header of this name")]
    Ignored,
}

/// Why a request has no body.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("no body of the type {0} can be made: JSON, forms and texts can")]
    MediaType(String),
    #[error("no body can be made: its schema is not in the document, never ends, or asks for a file")]
    NoValue,
    #[error("the field \"{name}\" of its form {source}")]
    Field { name: String, source: StyleError },
    #[error("a part of its form holds the boundary between the parts")]
    Boundary,
    #[error("the content of the file \"{0}\" in its form is not recorded")]
    File(String),
    #[error("its body of {0} bytes was sent, and is not recorded")]
    Missing(u64),
    #[error("{recorded} of the {bytes} bytes of its body are recorded")]
    Cut { recorded: usize, bytes: u64 },
    #[error("its body is no text, which is all that a contract can say")]
    NoText,
}

impl From<LearnError> for LeftOutPart {
    fn from(error: LearnError) -> LeftOutPart {
        LeftOutPart::Answer(Box::new(error))
    }
}
