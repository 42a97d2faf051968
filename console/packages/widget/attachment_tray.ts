/* Files that a visitor sends with a message: chosen, pasted or dropped, uploaded at once, shown until they are sent. */

import { ATTACHMENT_ENDINGS, attachmentDetail, isAttachable, MAX_ATTACHMENTS } from "@retinue/attachments";
import { make } from "@retinue/elements";
import { fillIn } from "@retinue/words";
import type { WidgetWords } from "@retinue/words/widget";
import { type ChatError, sentence } from "./chat_error";
import type { ChatService, SentFile, StoredFile } from "./chat_types";
import { icon } from "./drawing";

const MAX_BYTES = 10 * 1024 * 1024;

type Item = {
  file?: File | undefined;
  stored?: StoredFile | null;
  request?: XMLHttpRequest | null;
  element?: HTMLElement;
  /** The address of its preview. */
  url?: string;
};

export class AttachmentTray {
  isAllowed = false;
  readonly picker: HTMLInputElement;
  readonly button: HTMLButtonElement;
  readonly element: HTMLElement;
  private readonly notice = make("p", { class: "failure", role: "alert" });
  private readonly list: HTMLElement;
  private items: Item[] = [];

  constructor(
    private readonly words: WidgetWords,
    private readonly conversation: ChatService,
    private readonly changed: () => void,
  ) {
    const accept = ATTACHMENT_ENDINGS.join(",");
    this.picker = make("input", {
      type: "file",
      multiple: "",
      accept,
      hidden: "",
      tabindex: "-1",
      "aria-hidden": "true",
    });
    this.picker.addEventListener("change", () => {
      this.add(this.picker.files);
      this.picker.value = "";
    });
    const label = { "aria-label": words.attach, title: words.attach };
    const pick = () => this.picker.click();
    this.button = make("button", { type: "button", class: "tool", ...label, hidden: "", onclick: pick }, icon("clip"));
    this.list = make("ul", { class: "files", "aria-label": words.attached });
    this.element = make("div", { class: "tray", hidden: "" }, this.list, this.notice);
  }

  allow(isAllowed: boolean) {
    this.isAllowed = isAllowed;
    this.button.hidden = !isAllowed;
    if (!isAllowed) this.clear();
  }

  get isUploading() {
    return this.items.some((item) => item.request);
  }

  get sendable(): SentFile[] {
    return this.items.flatMap(({ stored, file }) => (stored ? [{ ...stored, ...(file && { file }) }] : []));
  }

  /** Upload files; returns whether there were any that the tray takes. */
  add(files: FileList | null | undefined): boolean {
    const given = [...(files ?? [])];
    if (!this.isAllowed || !given.length) return false;
    this.say("");
    for (const file of given) {
      if (this.items.length >= MAX_ATTACHMENTS) this.say("tooManyFiles", file);
      else if (file.size > MAX_BYTES) this.say("fileTooLarge", file);
      else if (!isAttachable(file.name)) this.say("fileType", file);
      else void this.upload(file);
    }
    this.show();
    return true;
  }

  private async upload(file: File) {
    const progress = make("progress", { max: "1", value: "0", "aria-label": file.name });
    const request = new XMLHttpRequest();
    const item = this.place({ file, request }, file.name, progress);
    const report = (share: number) => {
      progress.value = share;
    };
    try {
      item.stored = await this.conversation.upload?.(request, file, report);
    } catch (error) {
      if (this.items.includes(item)) this.say((error as ChatError).message, file);
      this.remove(item);
    } finally {
      item.request = null;
      progress.remove();
      this.show();
    }
  }

  /** Show a file in the tray, with the button that removes it. */
  private place(item: Item, name: string, ...progress: HTMLElement[]): Item {
    const dismiss = () => {
      this.say("");
      this.remove(item);
    };
    const label = fillIn(this.words.removeFile, { name });
    const attributes = { type: "button", class: "tool", "aria-label": label, onclick: dismiss };
    const remove = make("button", attributes, icon("close", 14));
    const title = make("span", { class: "file-name" }, name);
    item.element = make("li", { class: "file" }, this.preview(item), title, ...progress, remove);
    this.items.push(item);
    this.list.append(item.element);
    return item;
  }

  /** The files of a message that was refused; those that the service named are marked and not sent again. */
  putBack(files: SentFile[], { message = "", details }: Partial<Pick<ChatError, "message" | "details">>) {
    const refused = files.filter((_, place) => attachmentDetail(details, place) !== undefined);
    for (const { file, ...stored } of files) {
      const isRefused = refused.some(({ file_id }) => file_id === stored.file_id);
      const item = this.place({ file, stored: isRefused ? null : stored }, stored.filename);
      item.element?.toggleAttribute("data-refused", isRefused);
    }
    const name = refused.map(({ filename }) => filename).join(", ");
    if (details) this.say(message, name ? { name } : undefined);
    this.show();
  }

  private preview(item: Item): Element {
    if (!item.file || !/^image\/(png|jpeg|webp|gif)$/.test(item.file.type)) return icon("page", 16);
    item.url = URL.createObjectURL(item.file);
    const image = make("img", { alt: "", src: item.url });
    // A page may forbid such images; the name is enough.
    image.addEventListener("error", () => image.replaceWith(icon("page", 16)));
    return image;
  }

  private remove(item: Item) {
    item.request?.abort();
    if (item.url) URL.revokeObjectURL(item.url);
    item.element?.remove();
    this.items = this.items.filter((one) => one !== item);
    this.show();
  }

  /** The files to send now; the tray is empty afterwards. */
  take(): SentFile[] {
    const files = this.sendable;
    this.clear();
    return files;
  }

  clear() {
    for (const item of [...this.items]) this.remove(item);
    this.say("");
  }

  private say(key: string, { name }: { name: string } = { name: this.words.aFile }) {
    this.notice.textContent = key ? fillIn(sentence(this.words, key) ?? this.words.failed, { name }) : "";
    this.show();
  }

  private show() {
    this.element.hidden = !this.items.length && !this.notice.textContent;
    this.changed();
  }
}
