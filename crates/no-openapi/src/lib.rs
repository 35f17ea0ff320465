//! Derives of utoipa that write nothing. A browser asks nobody for the OpenAPI document, so the web app compiles `domain` with
//! these in place of utoipa, which would take longer than all other derives.

use proc_macro::TokenStream;

#[proc_macro_derive(ToSchema, attributes(schema))]
pub fn to_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

#[proc_macro_derive(IntoParams, attributes(into_params, param))]
pub fn into_params(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
