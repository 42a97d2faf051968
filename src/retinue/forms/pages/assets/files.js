/** Files are uploaded when they are chosen; the answer is their ids. */
class FileView extends FieldView {
  control() {
    this.files = [];
    this.failure = "";
    const allowed = this.rules.allowed_types;
    const endings = (Array.isArray(allowed) ? allowed : String(allowed ?? "").split(","))
      .map((one) => one.trim().replace(/^\*?\.?/, "")).filter(Boolean);
    this.input = make("input", this.attributes({
      type: "file", multiple: "", accept: endings.map((one) => `.${one}`).join(",") || undefined, onchange: () => this.onPick(),
    }));
    this.list = make("ul", { class: "files", "aria-label": "Chosen files" });
    this.list.hidden = true;
    return make("div", {}, this.input, this.list);
  }

  /** Keep the error of one file when another one finishes. */
  changed() {
    super.changed();
    this.mark(this.failure);
  }

  onPick() {
    this.failure = "";
    this.mark("");
    for (const file of this.input.files) this.upload(file);
    this.input.value = "";
  }

  get isBusy() {
    return this.files.some((one) => !one.fileId);
  }

  row(name) {
    const one = { stopping: new AbortController() };
    one.state = make("span", { class: "hint" });
    one.bar = make("progress", { max: "1", value: "0", "aria-label": `Upload of ${name}` });
    const remove = make("button", { type: "button", class: "quiet", "aria-label": `Remove ${name}`, onclick: () => this.remove(one) }, "Remove");
    one.element = make("li", {}, make("span", { class: "name" }, name), one.bar, one.state, remove);
    this.files.push(one);
    this.list.append(one.element);
    this.list.hidden = false;
    return one;
  }

  async upload(file) {
    const one = this.row(file.name);
    one.done = this.send(one, file);
    await one.done;
  }

  async send(one, file) {
    try {
      const stored = await this.form.server.upload(this.field.id, file, {
        onProgress: (part) => { one.bar.value = part; }, signal: one.stopping.signal,
      });
      this.settle(one, stored.file_id, sizeOf(stored.size_bytes));
      this.changed();
    } catch (error) {
      this.drop(one);
      if (error.name !== "AbortError") {
        this.failure = `could not take ${file.name}. ${error.message.replace(/\.$/, "")}`;
        this.mark(this.failure);
      }
    }
  }

  settle(one, fileId, text) {
    one.fileId = fileId;
    one.bar.remove();
    one.state.textContent = text;
  }

  drop(one) {
    this.files = this.files.filter((other) => other !== one);
    one.element.remove();
    this.list.hidden = !this.files.length;
  }

  remove(one) {
    one.stopping.abort();
    this.drop(one);
    this.failure = "";
    this.focus();
    this.changed();
  }

  /** Resolves when all uploads have finished or failed. */
  async settled() {
    await Promise.all(this.files.map((one) => one.done));
  }

  value() {
    const ids = this.files.map((one) => one.fileId).filter(Boolean);
    return ids.length > 1 ? ids : ids[0];
  }

  set(value) {
    for (const fileId of Array.isArray(value) ? value : [value]) {
      this.settle(this.row("Uploaded before"), String(fileId), "");
    }
  }
}

function sizeOf(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
