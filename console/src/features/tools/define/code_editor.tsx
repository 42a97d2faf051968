import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { EditorState, type Extension, RangeSetBuilder } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, keymap, lineNumbers, ViewPlugin } from "@codemirror/view";
import { type Ref, useCallback, useImperativeHandle, useRef } from "react";
import { type CodeLanguage, findColouredRanges } from "./code_colours";
import style from "./code_editor.module.css";

export type CodeView = { goToLine: (line: number) => void };
type CodeEditorProps = {
  value: string;
  language: CodeLanguage;
  label: string;
  isReadOnly: boolean;
  ref?: Ref<CodeView>;
  onChange: (code: string) => void;
};

// The nonce must be there before the first editor writes its style sheet.
const nonce = globalThis.__webpack_nonce__ ?? "";

function buildColours(code: string, language: CodeLanguage) {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to, kind } of findColouredRanges(code, language))
    builder.add(from, to, Decoration.mark({ class: `cm-${kind}` }));
  return builder.finish();
}

const colourCode = (language: CodeLanguage) =>
  ViewPlugin.define(
    ({ state }) => ({
      colours: buildColours(state.doc.toString(), language),
      update(update) {
        if (update.docChanged) this.colours = buildColours(update.state.doc.toString(), language);
      },
    }),
    { decorations: ({ colours }) => colours },
  );

const createExtensions = ({ label, language, isReadOnly }: CodeEditorProps): Extension => [
  EditorView.cspNonce.of(nonce),
  lineNumbers(),
  history(),
  drawSelection(),
  // Tab indents; Escape leaves the editor, and Tab goes on from there.
  keymap.of([...defaultKeymap.filter(({ key }) => key !== "Escape"), ...historyKeymap, indentWithTab]),
  EditorView.contentAttributes.of({ "aria-label": label }),
  EditorState.readOnly.of(isReadOnly),
  EditorView.editable.of(!isReadOnly),
  colourCode(language),
];

/** Code in CodeMirror with the colours of its language; this file is a chunk of its own. */
export default function CodeEditor(props: CodeEditorProps) {
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  useImperativeHandle(props.ref, () => ({
    goToLine: (number) => {
      const now = view.current;
      if (!now) return;
      const line = now.state.doc.line(Math.min(number, now.state.doc.lines));
      now.dispatch({ selection: { anchor: line.from, head: line.to }, scrollIntoView: true });
      now.focus();
    },
  }));
  const show = useCallback((parent: HTMLDivElement) => {
    const made = new EditorView({
      parent,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          createExtensions(latest.current),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  // Another language is another editor, which takes over what was typed.
  return <div key={props.language} className={style.editor} ref={show} />;
}
