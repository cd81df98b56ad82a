//! Sessions: a login returns a token, which is needed to create and read items until the logout.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::http::{Request, Response};
use crate::modes::Mode;

/// In one mode, one in this number of logins gets no token.
const WITHOUT_TOKEN_EVERY: u64 = 100;

#[derive(Debug)]
pub(crate) struct Sessions {
    mode: Mode,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    logins: u64,
    /// Users by token.
    users: BTreeMap<String, String>,
    last_user: String,
    /// The owner of each item.
    owners: Vec<String>,
}

impl Sessions {
    pub(crate) fn new(mode: Mode) -> Self {
        Self { mode, state: Mutex::default() }
    }

    /// The answer, if the path belongs to sessions.
    pub(crate) fn answer(&self, request: &Request) -> Option<Response> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let item = request.path.strip_prefix("/session/items/");
        let item = item.map(|item| item.parse::<usize>().ok().filter(|item| *item < state.owners.len()));
        let token = request.authorization.strip_prefix("Bearer ").unwrap_or_default();
        let user = state.users.get(token).cloned();
        Some(match (request.method.as_str(), request.path.as_str(), item, user) {
            ("POST", "/session", ..) => self.login(&mut state, &request.body),
            ("POST", "/session/items", _, Some(user)) => {
                if self.mode == Mode::OneToken && !state.owners.is_empty() {
                    return Some(Response::text(401, "the token was used"));
                }
                let id = state.owners.len();
                state.owners.push(user);
                Response::created(format!("/session/items/{id}"), json!({ "id": id }).to_string())
            }
            ("GET", _, Some(Some(item)), Some(_)) => {
                let owner = match self.mode {
                    Mode::OtherSession => &state.last_user,
                    _ => &state.owners[item],
                };
                Response::json(json!({ "id": item, "owner": owner }).to_string())
            }
            ("DELETE", "/session", _, Some(_)) => {
                state.users.remove(token);
                Response::text(200, "bye")
            }
            ("POST", "/session/items", ..) | ("DELETE", "/session", ..) | ("GET", _, Some(Some(_)), None) => {
                Response::text(401, "log in first")
            }
            (_, "/session" | "/session/items", ..) => Response::text(405, "method not allowed"),
            _ => return None,
        })
    }

    fn login(&self, state: &mut State, body: &[u8]) -> Response {
        let asked: Option<Value> = serde_json::from_slice(body).ok();
        let Some(user) = asked.as_ref().and_then(|asked| asked["user"].as_str()) else {
            return Response::text(400, "a user is wanted");
        };
        state.logins += 1;
        let token = match self.mode {
            Mode::OneToken => "the-token".to_owned(),
            // Needs percent-encoding in paths and escapes in JSON.
            _ => format!("t/\"{}\"", state.logins),
        };
        user.clone_into(&mut state.last_user);
        state.users.insert(token.clone(), user.to_owned());
        match self.mode {
            Mode::NoTokenIn100 if state.logins.is_multiple_of(WITHOUT_TOKEN_EVERY) => {
                Response::json(json!({ "user": user, "token": null }).to_string())
            }
            _ => Response::json(json!({ "user": user, "token": token }).to_string()),
        }
    }
}
