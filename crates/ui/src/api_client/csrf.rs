//! The CSRF token, which proves that a page of ours asks for a change: other sites cannot read it. It belongs to the session,
//! and is kept in memory so that a change need not ask for the session first.

use std::cell::RefCell;

use super::{Answer, ApiError};

/// What this page knows of the session's token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum CachedToken {
    /// The session must be asked for.
    #[default]
    Unknown,
    /// `None` if nobody is signed in.
    Known(Option<String>),
}

/// Keeps the token of whoever is signed in.
#[derive(Debug, Default)]
pub struct TokenCache(RefCell<CachedToken>);

impl TokenCache {
    /// For the session that there is now; `None` if nobody is signed in.
    pub fn set(&self, token: Option<String>) {
        *self.0.borrow_mut() = CachedToken::Known(token);
    }

    /// Sends a change with the token. The session is asked for only if the token is not known. Where the server refuses the
    /// token, because somebody signed in or out in another tab, the change was not made: it is sent once more, with the token
    /// of the session that there is now.
    pub async fn send<T>(
        &self,
        read: impl AsyncFn() -> Answer<Option<String>>,
        send: impl AsyncFn(Option<String>) -> Answer<T>,
    ) -> Answer<T> {
        match send(self.token(&read).await?).await {
            Err(error) if error.is_about_csrf() => {
                self.0.replace(CachedToken::Unknown);
                send(self.token(&read).await?).await
            }
            answer => answer,
        }
    }

    async fn token(&self, read: impl AsyncFn() -> Answer<Option<String>>) -> Answer<Option<String>> {
        let cached = self.0.borrow().clone();
        if let CachedToken::Known(token) = cached {
            return Ok(token);
        }
        let token = match read().await {
            Ok(token) => token,
            Err(error) if error.is_signed_out() => None,
            Err(error) => return Err(error),
        };
        self.set(token.clone());
        Ok(token)
    }
}

impl ApiError {
    /// Whether the server refused the CSRF token, and nothing else.
    fn is_about_csrf(&self) -> bool {
        matches!(self, Self::Refused(problem) if problem.is_about_csrf())
    }
}

#[cfg(test)]
mod tests {
    use domain::api::{CSRF_HEADER, ProblemDetails};
    use futures::FutureExt;

    use super::*;

    /// A server with a session, that counts what it is asked.
    #[derive(Default)]
    struct Server {
        session: RefCell<Option<&'static str>>,
        reads: RefCell<usize>,
        sent: RefCell<Vec<Option<String>>>,
        /// Refuses every change, for another reason.
        forbids: bool,
    }

    fn refusal(status: u16, detail: String) -> ApiError {
        let (kind, title) = ("about:blank".to_owned(), String::new());
        ApiError::Refused(ProblemDetails { kind, title, status, detail, errors: Vec::new() })
    }

    impl Server {
        fn read(&self) -> Answer<Option<String>> {
            *self.reads.borrow_mut() += 1;
            match *self.session.borrow() {
                Some(token) => Ok(Some(token.to_owned())),
                None => Err(refusal(401, "sign in".to_owned())),
            }
        }

        fn change(&self, token: Option<String>) -> Answer<()> {
            self.sent.borrow_mut().push(token.clone());
            if self.forbids {
                return Err(refusal(403, "this needs the role author".to_owned()));
            }
            match *self.session.borrow() {
                Some(own) if token.as_deref() == Some(own) => Ok(()),
                Some(_) => Err(refusal(403, format!("a change needs the header {CSRF_HEADER}"))),
                None => Err(refusal(401, "sign in".to_owned())),
            }
        }

        fn ask(&self, cache: &TokenCache) -> Answer<()> {
            let change = cache.send(async || self.read(), async |token| self.change(token));
            change.now_or_never().unwrap()
        }
    }

    fn sent(server: &Server) -> Vec<Option<String>> {
        server.sent.borrow().clone()
    }

    fn some(tokens: &[&str]) -> Vec<Option<String>> {
        tokens.iter().map(|token| Some((*token).to_owned())).collect()
    }

    #[test]
    fn the_session_is_asked_for_once() {
        let (server, cache) = (Server { session: Some("a").into(), ..Server::default() }, TokenCache::default());
        for _ in 0..3 {
            assert_eq!(server.ask(&cache), Ok(()));
        }
        assert_eq!((*server.reads.borrow(), sent(&server)), (1, some(&["a", "a", "a"])));
    }

    #[test]
    fn a_token_that_came_with_an_answer_is_used() {
        let (server, cache) = (Server { session: Some("a").into(), ..Server::default() }, TokenCache::default());
        cache.set(Some("a".to_owned()));
        assert_eq!(server.ask(&cache), Ok(()));
        assert_eq!(*server.reads.borrow(), 0);
    }

    #[test]
    fn a_change_is_sent_again_with_the_token_of_another_session() {
        let (server, cache) = (Server { session: Some("a").into(), ..Server::default() }, TokenCache::default());
        server.ask(&cache).unwrap();
        *server.session.borrow_mut() = Some("b");
        assert_eq!(server.ask(&cache), Ok(()));
        assert_eq!((*server.reads.borrow(), sent(&server)), (2, some(&["a", "a", "b"])));
    }

    #[test]
    fn a_token_that_is_refused_twice_is_given_up() {
        let cache = TokenCache::default();
        let server = Server { session: Some("a").into(), ..Server::default() };
        let change = cache.send(async || Ok(Some("other".to_owned())), async |token| server.change(token));
        assert!(change.now_or_never().unwrap().is_err_and(|error| error.is_about_csrf()));
        assert_eq!(sent(&server), some(&["other", "other"]));
    }

    #[test]
    fn what_is_forbidden_for_another_reason_is_not_sent_again() {
        let (server, cache) =
            (Server { session: Some("a").into(), forbids: true, ..Server::default() }, TokenCache::default());
        assert!(server.ask(&cache).is_err());
        assert!(server.ask(&cache).is_err());
        assert_eq!((*server.reads.borrow(), sent(&server).len()), (1, 2));
    }

    #[test]
    fn nobody_is_asked_for_again_before_they_sign_in() {
        let (server, cache) = (Server::default(), TokenCache::default());
        assert!(server.ask(&cache).is_err_and(|error| error.is_signed_out()));
        cache.set(Some("a".to_owned()));
        *server.session.borrow_mut() = Some("a");
        assert_eq!(server.ask(&cache), Ok(()));
        assert_eq!((*server.reads.borrow(), sent(&server)), (1, vec![None, Some("a".to_owned())]));
    }
}
