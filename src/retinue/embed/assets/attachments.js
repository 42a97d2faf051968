/* Files that a visitor sends with a message: chosen, pasted or dropped, uploaded at once, shown until they are sent. */

const MAX_FILES = 10;
const MAX_BYTES = 10 * 1024 * 1024;
const ACCEPTED = ".png,.jpg,.jpeg,.webp,.gif,.pdf,.docx,.txt,.md,.markdown,.csv,.html,.htm,.json,.xml,.wav,.mp3,.webm,.ogg,.m4a,.flac";
const ENDINGS = new Set(ACCEPTED.split(","));

/** The key of the sentence that says why the service refused a file or a message with files; null for other reasons. */
function fileRefusal(status, error) {
  if (status === 413) return "fileTooLarge";
  if (status === 415) return "fileType";
  if (error?.code === "file_not_found") return "fileGone";
  if (error?.code === "model_cannot_see") return "cannotSee";
  if (error?.code === "stt_not_configured") return "cannotHear";
  if (error?.details?.reason === "attachments_not_allowed") return "noFiles";
  return Object.keys(error?.details ?? {}).some((name) => name.startsWith("attachments")) ? "fileBroken" : null;
}

/** The files of a refused message that the service named by their place, such as `attachments.0`. */
function refusedAmong(files, details) {
  return files.filter((file, place) => details?.[`attachments.${place}`] !== undefined);
}

class AttachmentTray {
  constructor(words, conversation, changed) {
    this.words = words;
    this.conversation = conversation;
    this.changed = changed;
    this.items = [];
    this.isAllowed = false;
    this.picker = make("input", { type: "file", multiple: "", accept: ACCEPTED, hidden: "", tabindex: "-1", "aria-hidden": "true" });
    this.picker.addEventListener("change", () => {
      this.add(this.picker.files);
      this.picker.value = "";
    });
    this.button = make("button", {
      type: "button", class: "tool", "aria-label": words.attach, title: words.attach, hidden: "", onclick: () => this.picker.click(),
    }, icon("clip"));
    this.notice = make("p", { class: "failure", role: "alert" });
    this.list = make("ul", { class: "files", "aria-label": words.attached });
    this.element = make("div", { class: "tray", hidden: "" }, this.list, this.notice);
  }

  allow(isAllowed) {
    this.isAllowed = isAllowed;
    this.button.hidden = !isAllowed;
    if (!isAllowed) this.clear();
  }

  get isUploading() {
    return this.items.some((item) => item.request);
  }

  get sendable() {
    return this.items.filter((item) => item.stored).map(({ stored, file }) => ({ ...stored, file }));
  }

  /** Upload files; returns whether there were any that the tray takes. */
  add(files) {
    const given = [...(files ?? [])];
    if (!this.isAllowed || !given.length) return false;
    this.say("");
    for (const file of given) {
      const ending = file.name.slice(file.name.lastIndexOf(".")).toLowerCase();
      if (this.items.length >= MAX_FILES) this.say("tooManyFiles", file);
      else if (file.size > MAX_BYTES) this.say("fileTooLarge", file);
      else if (!ENDINGS.has(ending)) this.say("fileType", file);
      else this.upload(file);
    }
    this.show();
    return true;
  }

  upload(file) {
    const progress = make("progress", { max: "1", value: "0", "aria-label": file.name });
    const item = this.place({ file, request: new XMLHttpRequest() }, file.name, progress);
    this.conversation.upload(item.request, file, (share) => { progress.value = share; }).then((stored) => {
      item.stored = stored;
    }, (error) => {
      if (this.items.includes(item)) this.say(error.message, file);
      this.remove(item);
    }).finally(() => {
      item.request = null;
      progress.remove();
      this.show();
    });
  }

  /** Show a file in the tray, with the button that removes it. */
  place(item, name, ...progress) {
    const dismiss = () => {
      this.say("");
      this.remove(item);
    };
    const remove = make("button", {
      type: "button", class: "tool", "aria-label": fillIn(this.words.removeFile, { name }), onclick: dismiss,
    }, icon("close", 14));
    item.element = make("li", { class: "file" }, this.preview(item), make("span", { class: "file-name" }, name), ...progress, remove);
    this.items.push(item);
    this.list.append(item.element);
    return item;
  }

  /** The files of a message that was refused; those that the service named are marked and not sent again. */
  putBack(files, { message, details }) {
    const refused = refusedAmong(files, details);
    for (const { file, ...stored } of files) {
      const isRefused = refused.some(({ file_id }) => file_id === stored.file_id);
      const item = this.place({ file, stored: isRefused ? null : stored }, stored.filename);
      item.element.toggleAttribute("data-refused", isRefused);
    }
    if (details) this.say(message, refused.length ? { name: refused.map(({ filename }) => filename).join(", ") } : {});
    this.show();
  }

  preview(item) {
    if (!/^image\/(png|jpeg|webp|gif)$/.test(item.file?.type)) return icon("page", 16);
    item.url = URL.createObjectURL(item.file);
    const image = make("img", { alt: "", src: item.url });
    // A page may forbid such images; the name is enough.
    image.addEventListener("error", () => image.replaceWith(icon("page", 16)));
    return image;
  }

  remove(item) {
    item.request?.abort();
    if (item.url) URL.revokeObjectURL(item.url);
    item.element.remove();
    this.items = this.items.filter((one) => one !== item);
    this.show();
  }

  /** The files to send now; the tray is empty afterwards. */
  take() {
    const files = this.sendable;
    this.clear();
    return files;
  }

  clear() {
    for (const item of [...this.items]) this.remove(item);
    this.say("");
  }

  say(key, file = {}) {
    this.notice.textContent = key ? fillIn(this.words[key] ?? this.words.failed, { name: file.name ?? this.words.aFile }) : "";
    this.show();
  }

  show() {
    this.element.hidden = !this.items.length && !this.notice.textContent;
    this.changed();
  }
}
