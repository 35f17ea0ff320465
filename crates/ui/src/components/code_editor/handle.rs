//! The module web/editor, as JavaScript has it.

use js_sys::JSON;
use leptos::web_sys::HtmlElement;
use serde::Serialize;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::help::{Completions, Language, Problem};

#[wasm_bindgen]
extern "C" {
    /// Given by boot-*.js, which knows the module's name: loads it, at most once.
    #[wasm_bindgen(js_namespace = groundstate, js_name = editor, catch)]
    async fn load_module() -> Result<JsValue, JsValue>;

    pub type Module;
    #[wasm_bindgen(method, catch)]
    fn create(this: &Module, parent: &HtmlElement, options: &JsOptions) -> Result<Handle, JsValue>;

    #[wasm_bindgen(extends = js_sys::Object)]
    type JsOptions;
    #[wasm_bindgen(method, setter)]
    fn set_text(this: &JsOptions, text: &str);
    #[wasm_bindgen(method, setter)]
    fn set_language(this: &JsOptions, language: &str);
    #[wasm_bindgen(method, setter)]
    fn set_label(this: &JsOptions, label: &str);
    #[wasm_bindgen(method, setter, js_name = onChange)]
    fn set_on_change(this: &JsOptions, on_change: &Closure<dyn Fn(String)>);
    #[wasm_bindgen(method, setter, js_name = onSave)]
    fn set_on_save(this: &JsOptions, on_save: &Closure<dyn Fn()>);

    type Handle;
    #[wasm_bindgen(method)]
    fn replace(this: &Handle, text: &str);
    #[wasm_bindgen(method)]
    fn problems(this: &Handle, list: &JsValue);
    #[wasm_bindgen(method)]
    fn schema(this: &Handle, schema: &JsValue);
    #[wasm_bindgen(method)]
    fn completions(this: &Handle, list: &JsValue);
    #[wasm_bindgen(method, js_name = readOnly)]
    fn read_only(this: &Handle, is: bool);
    #[wasm_bindgen(method)]
    fn reveal(this: &Handle, place: &JsValue);
    #[wasm_bindgen(method)]
    fn focus(this: &Handle);
    #[wasm_bindgen(method)]
    fn select(this: &Handle, anchor: u32, head: u32);
    #[wasm_bindgen(method)]
    fn destroy(this: &Handle);
}

pub struct Options<'a> {
    pub text: &'a str,
    pub language: Language,
    pub label: &'a str,
}

/// An editor in the page; dropped, it tells what it has not told yet and goes.
pub struct Editor {
    handle: Handle,
    /// Called by the handle for as long as it lives.
    _on_change: Closure<dyn Fn(String)>,
    _on_save: Closure<dyn Fn()>,
}

pub async fn load() -> Result<Module, JsValue> {
    Ok(load_module().await?.unchecked_into())
}

impl Editor {
    pub fn create(
        module: &Module,
        parent: &HtmlElement,
        options: Options<'_>,
        on_change: impl Fn(String) + 'static,
        on_save: impl Fn() + 'static,
    ) -> Result<Self, JsValue> {
        let (on_change, on_save) = (Closure::<dyn Fn(String)>::new(on_change), Closure::<dyn Fn()>::new(on_save));
        let given: JsOptions = js_sys::Object::new().unchecked_into();
        given.set_text(options.text);
        given.set_language(options.language.into_str());
        given.set_label(options.label);
        given.set_on_change(&on_change);
        given.set_on_save(&on_save);
        let handle = module.create(parent, &given)?;
        Ok(Self { handle, _on_change: on_change, _on_save: on_save })
    }

    pub fn replace(&self, text: &str) {
        self.handle.replace(text);
    }

    pub fn set_schema(&self, schema: Option<&Value>) {
        self.handle.schema(&js(&schema));
    }

    pub fn set_completions(&self, list: &[Completions]) {
        self.handle.completions(&js(list));
    }

    pub fn set_problems(&self, list: &[Problem]) {
        self.handle.problems(&js(list));
    }

    pub fn set_read_only(&self, is: bool) {
        self.handle.read_only(is);
    }

    pub fn reveal(&self, pointer: &str) {
        self.handle.reveal(&pointer.into());
    }

    pub fn reveal_line(&self, line: usize) {
        self.handle.reveal(&line.into());
    }

    pub fn focus(&self) {
        self.handle.focus();
    }

    /// By offsets in UTF-16, as the browser counts.
    pub fn select(&self, anchor: u32, head: u32) {
        self.handle.select(anchor, head);
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.handle.destroy();
    }
}

/// Data as JavaScript has it. What cannot be written as JSON counts as absent: ours always can.
fn js<T: Serialize + ?Sized>(data: &T) -> JsValue {
    serde_json::to_string(data).ok().and_then(|json| JSON::parse(&json).ok()).unwrap_or(JsValue::NULL)
}
