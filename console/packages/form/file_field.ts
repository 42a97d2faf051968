import { createElement } from "@retinue/elements";
import { fillPlaceholders } from "@retinue/words";
import { formWords } from "@retinue/words/form";
import { FieldView } from "./field_view";

const KILOBYTE = 1024;
const MEGABYTE = KILOBYTE * KILOBYTE;

type FileItem = {
  name: string;
  element: HTMLElement;
  progress: HTMLProgressElement;
  size: HTMLElement;
  cancellation: AbortController;
  /** Known once the file is uploaded. */
  fileId?: string;
  upload?: Promise<void>;
};

export function formatFileSize(bytes: number): string {
  if (bytes < KILOBYTE) return fillPlaceholders(formWords.bytes, { size: bytes });
  if (bytes < MEGABYTE) return fillPlaceholders(formWords.kilobytes, { size: Math.round(bytes / KILOBYTE) });
  return fillPlaceholders(formWords.megabytes, { size: (bytes / MEGABYTE).toFixed(1) });
}

/** Files are uploaded when they are chosen; the answer is their ids. */
export class FileFieldView extends FieldView {
  private items: FileItem[] = [];
  private failure = "";
  private readonly input = createElement(
    "input",
    this.makeAttributes({
      type: "file",
      multiple: "",
      accept: this.listEndings() || undefined,
      onchange: () => this.uploadChosen(),
    }),
  );
  private readonly list = createElement("ul", { class: "files", "aria-label": formWords.files, hidden: "" });

  private listEndings(): string {
    const { allowed_types: allowed = "" } = this.rules;
    const types = Array.isArray(allowed) ? allowed : String(allowed).split(",");
    const endings = types.map((type) => type.trim().replace(/^\*?\.?/, "")).filter(Boolean);
    return endings.map((ending) => `.${ending}`).join(",");
  }

  protected makeControl() {
    return createElement("div", {}, this.input, this.list);
  }

  get fileNames() {
    return this.items.map(({ name }) => name);
  }

  /** Keep the error of one file when another one finishes. */
  protected override reportChange() {
    super.reportChange();
    this.markProblem(this.failure);
  }

  private uploadChosen() {
    this.failure = "";
    this.markProblem("");
    for (const file of this.input.files ?? []) {
      const item = this.addItem(file.name);
      item.upload = this.uploadFile(item, file);
    }
    this.input.value = "";
  }

  private addItem(name: string): FileItem {
    const progress = createElement("progress", {
      max: "1",
      value: "0",
      "aria-label": fillPlaceholders(formWords.upload, { name }),
    });
    const size = createElement("span", { class: "hint" });
    const label = fillPlaceholders(formWords.removeFile, { name });
    const attributes = { type: "button", class: "quiet", "aria-label": label, onclick: () => this.removeItem(item) };
    const remove = createElement("button", attributes, formWords.remove);
    const element = createElement("li", {}, createElement("span", { class: "name" }, name), progress, size, remove);
    const item: FileItem = { name, element, progress, size, cancellation: new AbortController() };
    this.items.push(item);
    this.list.append(element);
    this.list.hidden = false;
    return item;
  }

  private async uploadFile(item: FileItem, file: File) {
    const onProgress = (share: number) => {
      item.progress.value = share;
    };
    try {
      const { signal } = item.cancellation;
      const uploaded = await this.context.server.uploadFile(this.field.id, file, { onProgress, signal });
      this.finishItem(item, uploaded.file_id, formatFileSize(uploaded.size_bytes));
      this.reportChange();
    } catch (error) {
      this.dropItem(item);
      if ((error as Error).name === "AbortError") return;
      const reason = (error as Error).message.replace(/\.$/, "");
      this.failure = fillPlaceholders(formWords.uploadFailed, { name: file.name, reason });
      this.markProblem(this.failure);
    }
  }

  private finishItem(item: FileItem, fileId: string, size: string) {
    item.fileId = fileId;
    item.progress.remove();
    item.size.textContent = size;
  }

  private dropItem(item: FileItem) {
    this.items = this.items.filter((other) => other !== item);
    item.element.remove();
    this.list.hidden = !this.items.length;
  }

  private removeItem(item: FileItem) {
    item.cancellation.abort();
    this.dropItem(item);
    this.failure = "";
    this.focus();
    this.reportChange();
  }

  /** Resolves when all uploads have finished or failed. */
  override async settle() {
    await Promise.all(this.items.map(({ upload }) => upload));
  }

  readAnswer(): string | string[] | undefined {
    const ids = this.items.flatMap(({ fileId }) => fileId || []);
    return ids.length > 1 ? ids : ids[0];
  }

  showAnswer(answer: unknown) {
    for (const fileId of Array.isArray(answer) ? answer : [answer])
      this.finishItem(this.addItem(formWords.uploadedBefore), String(fileId), "");
  }
}
