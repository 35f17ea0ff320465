//! Empty versions of utoipa's derives. The browser never makes the OpenAPI document, so `domain` is compiled for it with these: the
//! real ones take longer to compile than all other derives.

use proc_macro::TokenStream;

#[proc_macro_derive(ToSchema, attributes(schema))]
pub fn to_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

#[proc_macro_derive(IntoParams, attributes(into_params, param))]
pub fn into_params(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
