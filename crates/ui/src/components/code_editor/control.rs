//! By which a page moves its reader within an editor.

use std::rc::Rc;

use leptos::prelude::*;

use super::handle::Editor;

/// Made by the page and given to the one editor that it is for. Before that editor is there it does nothing.
#[derive(Clone, Copy)]
pub struct EditorControl(RwSignal<Option<Rc<Editor>>, LocalStorage>);

impl Default for EditorControl {
    fn default() -> Self {
        Self(RwSignal::new_local(None))
    }
}

impl EditorControl {
    pub(super) fn editor(self) -> RwSignal<Option<Rc<Editor>>, LocalStorage> {
        self.0
    }

    /// Whether that editor is there by now.
    pub fn is_there(self) -> bool {
        self.0.with(Option::is_some)
    }

    /// Shows the field at a JSON pointer, or the nearest one around it, and puts the cursor there.
    pub fn reveal(self, pointer: &str) {
        self.with(|editor| editor.reveal(pointer));
    }

    /// Shows a line, counted from 1, and puts the cursor there.
    pub fn reveal_line(self, line: usize) {
        self.with(|editor| editor.reveal_line(line));
    }

    pub fn focus(self) {
        self.with(Editor::focus);
    }

    fn with(self, action: impl FnOnce(&Editor)) {
        if let Some(editor) = self.0.try_get_untracked().flatten() {
            action(&editor);
        }
    }
}
