// Where the editor stands in the page: in a shadow root, the one place whose styles CodeMirror can make under a content
// security policy that forbids style elements. The app's custom properties reach into it, its other rules do not.

const HINT = "Tab indents. To leave the editor by the keyboard, press Escape, then Tab.";
const OURS = `
  :host { display: block; min-width: 0; }
  * { box-sizing: border-box; }
  .hint { position: absolute; overflow: hidden; width: 1px; height: 1px; clip-path: inset(50%); }
`;

let sheet;

/** `{ host, root, hint }`: the element in the page, its shadow root, the id of what screen readers say of the editor. */
export function frame(parent) {
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(OURS);
  }
  root.adoptedStyleSheets = [sheet];
  const hint = Object.assign(document.createElement("p"), { id: "hint", className: "hint", textContent: HINT });
  root.append(hint);
  parent.append(host);
  return { host, root, hint: hint.id };
}
