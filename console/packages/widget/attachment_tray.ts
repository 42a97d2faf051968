/* Files that a visitor sends with a message: chosen, pasted or dropped, uploaded at once, shown until they are sent. */

import { ATTACHMENT_ENDINGS, findAttachmentDetail, isAttachable, MAX_ATTACHMENTS } from "@retinue/attachments";
import { createElement } from "@retinue/elements";
import { fillPlaceholders } from "@retinue/words";
import type { WidgetWords } from "@retinue/words/widget";
import { type ChatError, findWidgetSentence } from "./chat_error";
import type { ChatService, SentFile, StoredFile } from "./chat_types";
import { createWidgetIcon } from "./drawing";

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
  private readonly notice = createElement("p", { class: "failure", role: "alert" });
  private readonly list: HTMLElement;
  private items: Item[] = [];

  constructor(
    private readonly words: WidgetWords,
    private readonly conversation: ChatService,
    private readonly changed: () => void,
  ) {
    const accept = ATTACHMENT_ENDINGS.join(",");
    this.picker = createElement("input", {
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
    const pickFiles = () => this.picker.click();
    this.button = createElement(
      "button",
      { type: "button", class: "tool", ...label, hidden: "", onclick: pickFiles },
      createWidgetIcon("clip"),
    );
    this.list = createElement("ul", { class: "files", "aria-label": words.attached });
    this.element = createElement("div", { class: "tray", hidden: "" }, this.list, this.notice);
  }

  setAllowed(isAllowed: boolean) {
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
    this.showNotice("");
    for (const file of given) {
      if (this.items.length >= MAX_ATTACHMENTS) this.showNotice("tooManyFiles", file);
      else if (file.size > MAX_BYTES) this.showNotice("fileTooLarge", file);
      else if (!isAttachable(file.name)) this.showNotice("fileType", file);
      else void this.upload(file);
    }
    this.updateTray();
    return true;
  }

  private async upload(file: File) {
    const progress = createElement("progress", { max: "1", value: "0", "aria-label": file.name });
    const request = new XMLHttpRequest();
    const item = this.placeItem({ file, request }, file.name, progress);
    const showProgress = (share: number) => {
      progress.value = share;
    };
    try {
      item.stored = await this.conversation.uploadFile?.(request, file, showProgress);
    } catch (error) {
      if (this.items.includes(item)) this.showNotice((error as ChatError).message, file);
      this.remove(item);
    } finally {
      item.request = null;
      progress.remove();
      this.updateTray();
    }
  }

  /** Show a file in the tray, with the button that removes it. */
  private placeItem(item: Item, name: string, ...progress: HTMLElement[]): Item {
    const dismissItem = () => {
      this.showNotice("");
      this.remove(item);
    };
    const label = fillPlaceholders(this.words.removeFile, { name });
    const attributes = { type: "button", class: "tool", "aria-label": label, onclick: dismissItem };
    const removeItem = createElement("button", attributes, createWidgetIcon("close", 14));
    const title = createElement("span", { class: "file-name" }, name);
    item.element = createElement("li", { class: "file" }, this.createPreview(item), title, ...progress, removeItem);
    this.items.push(item);
    this.list.append(item.element);
    return item;
  }

  /** The files of a message that was refused; those that the service named are marked and not sent again. */
  putBack(files: SentFile[], { message = "", details }: Partial<Pick<ChatError, "message" | "details">>) {
    const refused = files.filter((_, place) => findAttachmentDetail(details, place) !== undefined);
    for (const { file, ...stored } of files) {
      const isRefused = refused.some(({ file_id }) => file_id === stored.file_id);
      const item = this.placeItem({ file, stored: isRefused ? null : stored }, stored.filename);
      item.element?.toggleAttribute("data-refused", isRefused);
    }
    const name = refused.map(({ filename }) => filename).join(", ");
    if (details) this.showNotice(message, name ? { name } : undefined);
    this.updateTray();
  }

  private createPreview(item: Item): Element {
    if (!item.file || !/^image\/(png|jpeg|webp|gif)$/.test(item.file.type)) return createWidgetIcon("page", 16);
    item.url = URL.createObjectURL(item.file);
    const image = createElement("img", { alt: "", src: item.url });
    // A page may forbid such images; the name is enough.
    image.addEventListener("error", () => image.replaceWith(createWidgetIcon("page", 16)));
    return image;
  }

  private remove(item: Item) {
    item.request?.abort();
    if (item.url) URL.revokeObjectURL(item.url);
    item.element?.remove();
    this.items = this.items.filter((one) => one !== item);
    this.updateTray();
  }

  /** The files to send now; the tray is empty afterwards. */
  take(): SentFile[] {
    const files = this.sendable;
    this.clear();
    return files;
  }

  clear() {
    for (const item of [...this.items]) this.remove(item);
    this.showNotice("");
  }

  private showNotice(key: string, { name }: { name: string } = { name: this.words.aFile }) {
    this.notice.textContent = key
      ? fillPlaceholders(findWidgetSentence(this.words, key) ?? this.words.failed, { name })
      : "";
    this.updateTray();
  }

  private updateTray() {
    this.element.hidden = !this.items.length && !this.notice.textContent;
    this.changed();
  }
}
