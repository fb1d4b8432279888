//! Answers as they are sent: compressed, tagged, and the files of the page with the policy that confines them.

use super::body::{Outgoing, text};
use super::handler::response;
use crate::api::encode;
use crate::web_page::{self, Asset};
use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue,
    REFERRER_POLICY, VARY,
};
use hyper::{Response, StatusCode};

/// A file of the page, with the policy that confines it.
pub(super) fn page(headers: &HeaderMap, asset: &Asset) -> Response<Outgoing> {
    let mut response = sent(headers, asset.body.as_bytes().to_vec(), true);
    let headers = response.headers_mut();
    if headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    }
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(web_page::CONTENT_SECURITY_POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// An answer, compressed if the client takes that, or only the news that it has not changed.
pub(super) fn sent(headers: &HeaderMap, body: Vec<u8>, tagged: bool) -> Response<Outgoing> {
    let tag = tagged.then(|| encode::tag(&body));
    let is_known = tag.as_ref().is_some_and(|tag| encode::is_known(headers, tag));
    let compressed = if is_known { None } else { encode::compressed(headers, &body) };
    let is_compressed = compressed.is_some();
    let mut response = match is_known {
        true => Response::new(text("")),
        false => response(StatusCode::OK, Bytes::from(compressed.unwrap_or(body)), "application/json"),
    };
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding, Authorization, Cookie"));
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if is_known {
        headers.remove(CONTENT_TYPE);
    }
    if let Some(tag) = tag.and_then(|tag| HeaderValue::from_str(&tag).ok()) {
        headers.insert(ETAG, tag);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
    response
}
