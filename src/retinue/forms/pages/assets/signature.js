const [WIDE, HIGH] = [720, 200];

/** A drawn or written signature; the last one made is the answer. */
class SignatureView extends FieldView {
  frame(control) {
    return make("fieldset", { class: "field signature", role: "group", "aria-describedby": this.describedBy },
      make("legend", {}, ...this.marked()), ...this.help(), control, this.problem);
  }

  control() {
    this.canvas = make("canvas", {
      width: WIDE, height: HIGH, role: "img", "aria-label": "Drawn signature: empty", onpointerdown: (event) => this.begin(event),
      onpointermove: (event) => this.draw(event), onpointerup: () => this.end(), onpointercancel: () => this.end(),
    });
    this.input = make("input", this.attributes({ type: "text", autocomplete: "name", oninput: () => this.onWriting() }));
    this.clear = make("button", { type: "button", class: "quiet", hidden: "", onclick: () => this.onClear() }, "Clear the drawing");
    return make("div", {}, this.canvas, this.clear, make("label", { class: "hint", for: this.id }, "Sign above, or write your name:"), this.input);
  }

  get pen() {
    const pen = this.canvas.getContext("2d");
    pen.lineWidth = 3;
    pen.lineCap = "round";
    pen.lineJoin = "round";
    pen.strokeStyle = pen.fillStyle = "#14213d";
    return pen;
  }

  placeOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return [((event.clientX - box.left) * WIDE) / box.width, ((event.clientY - box.top) * HIGH) / box.height];
  }

  begin(event) {
    if (event.button > 0) return;
    event.preventDefault();
    // Fails for a pointer that is not down.
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // Without capture, the line ends at the edge.
    }
    const [x, y] = this.placeOf(event);
    this.last = [x, y];
    const { pen } = this;
    pen.beginPath();
    pen.arc(x, y, 1.5, 0, 7);
    pen.fill();
  }

  draw(event) {
    if (!this.last) return;
    const { pen } = this;
    pen.beginPath();
    pen.moveTo(...this.last);
    this.last = this.placeOf(event);
    pen.lineTo(...this.last);
    pen.stroke();
  }

  end() {
    if (!this.last) return;
    this.last = null;
    this.input.value = "";
    this.drawn = this.canvas.toDataURL("image/png");
    this.say();
    this.changed();
  }

  say() {
    this.canvas.setAttribute("aria-label", `Drawn signature: ${this.drawn ? "signed" : "empty"}`);
    this.clear.hidden = !this.drawn;
  }

  wipe() {
    this.pen.clearRect(0, 0, WIDE, HIGH);
    this.drawn = null;
    this.say();
  }

  onClear() {
    this.wipe();
    this.changed();
    this.focus();
  }

  onWriting() {
    if (this.drawn) this.wipe();
    this.changed();
  }

  value() {
    return this.drawn ?? (this.input.value.trim() ? this.input.value : undefined);
  }

  set(value) {
    this.wipe();
    if (!String(value).startsWith("data:image/png;base64,")) {
      this.input.value = String(value);
      return;
    }
    const image = new Image();
    image.addEventListener("load", () => this.pen.drawImage(image, 0, 0, WIDE, HIGH));
    image.src = value;
    this.drawn = value;
    this.say();
  }
}
