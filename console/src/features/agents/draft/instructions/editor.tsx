import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import {
  Annotation,
  Compartment,
  EditorState,
  type Extension,
  RangeSet,
  StateEffect,
  StateField,
} from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  keymap,
  MatchDecorator,
  placeholder,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { useCallback, useEffect, useRef } from "react";
import { computeLineMarks, PLACEHOLDER } from "./line_marks";

export type EditorProps = {
  value: string;
  published: string;
  label: string;
  describedBy?: string;
  hint: string;
  maxLength: number;
  isReadOnly: boolean;
  onChange: (text: string) => void;
};

const External = Annotation.define<boolean>();
const normalizeLineEnds = (text: string) => text.replace(/\r\n?/g, "\n");
const setPublished = StateEffect.define<string>();
const changedLine = Decoration.line({ class: "cm-changed" });
const removedLine = Decoration.line({ class: "cm-removed" });

function buildLineDecorations(state: EditorState, published: string): DecorationSet {
  const { changed, removedBefore } = computeLineMarks(normalizeLineEnds(published), state.doc.toString());
  const lines = new Map<number, Decoration>();
  for (const line of removedBefore) lines.set(Math.min(line, state.doc.lines), removedLine);
  for (const line of changed) lines.set(line, changedLine);
  const sorted = [...lines].sort(([a], [b]) => a - b);
  return RangeSet.of(sorted.map(([line, mark]) => mark.range(state.doc.line(line).from)));
}

/** Marks the lines that differ from what production runs. */
const publishedMarks = StateField.define<{ published: string; marks: DecorationSet }>({
  create: () => ({ published: "", marks: Decoration.none }),
  update(now, change) {
    const sent = change.effects.find((effect) => effect.is(setPublished));
    if (!sent && !change.docChanged) return now;
    const published = sent ? (sent.value as string) : now.published;
    return { published, marks: buildLineDecorations(change.state, published) };
  },
  provide: (field) => EditorView.decorations.from(field, ({ marks }) => marks),
});

const decorateMatches = (regexp: RegExp, name: string) => {
  const found = new MatchDecorator({ regexp, decoration: Decoration.mark({ class: name }) });
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = found.createDeco(view);
      }
      update(update: ViewUpdate) {
        this.decorations = found.updateDeco(update, this.decorations);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  );
};

// The nonce must be there before the first editor writes its style sheet.
const nonce = globalThis.__webpack_nonce__ ?? "";

function createExtensions({ label, describedBy, hint, maxLength }: EditorProps, readOnly: Extension): Extension {
  return [
    EditorView.cspNonce.of(nonce),
    history(),
    drawSelection(),
    // Tab leaves the editor, as WCAG 2.1.2 asks; Escape is left to the page.
    keymap.of([...defaultKeymap.filter(({ key }) => key !== "Escape"), ...historyKeymap]),
    EditorView.lineWrapping,
    placeholder(hint),
    EditorState.changeFilter.of((change) => change.newDoc.length <= maxLength || !change.docChanged),
    EditorView.contentAttributes.of({
      "aria-label": label,
      ...(describedBy ? { "aria-describedby": describedBy } : {}),
    }),
    publishedMarks,
    decorateMatches(new RegExp(PLACEHOLDER), "cm-chip"),
    decorateMatches(/^#{1,6} .*$/gm, "cm-heading"),
    readOnly,
  ];
}

const readOnlyExtension = (isReadOnly: boolean) => [
  EditorState.readOnly.of(isReadOnly),
  EditorView.editable.of(!isReadOnly),
];

/** The text of an agent in CodeMirror; this file is a chunk of its own. */
export default function InstructionsEditor(props: EditorProps) {
  const { value, published, isReadOnly } = props;
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const readOnly = useRef(new Compartment());

  const show = useCallback((parent: HTMLDivElement) => {
    const first = latest.current;
    const made = new EditorView({
      parent,
      state: EditorState.create({
        doc: first.value,
        extensions: [
          createExtensions(first, readOnly.current.of(readOnlyExtension(first.isReadOnly))),
          EditorView.updateListener.of((update) => {
            const isOwn = !update.transactions.some((change) => change.annotation(External));
            if (update.docChanged && isOwn) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);

  // A text that did not come from this editor replaces what it holds: another tab's, or a discarded draft.
  useEffect(() => {
    const now = view.current;
    if (!now || now.state.doc.toString() === normalizeLineEnds(value)) return;
    const changes = { from: 0, to: now.state.doc.length, insert: value };
    now.dispatch({ changes, annotations: External.of(true), filter: false });
  }, [value]);
  useEffect(() => {
    const effects = [setPublished.of(published), readOnly.current.reconfigure(readOnlyExtension(isReadOnly))];
    view.current?.dispatch({ effects });
  }, [published, isReadOnly]);
  return <div ref={show} />;
}
