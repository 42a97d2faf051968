import { createElement } from "@retinue/elements";
import { formWords } from "@retinue/words/form";
import { FieldView } from "./field_view";

const [WIDTH, HEIGHT] = [720, 200];
const LINE_WIDTH = 3;
const INK = "#14213d";
const IMAGE_START = "data:image/png;base64,";

type Point = [x: number, y: number];

/** A drawn or written signature; the last one made is the answer. */
export class SignatureFieldView extends FieldView {
  /** The image that was drawn. */
  private drawing: string | null = null;
  private lastPoint: Point | null = null;
  private readonly canvas = createElement("canvas", {
    width: WIDTH,
    height: HEIGHT,
    role: "img",
    "aria-label": formWords.signatureEmpty,
    onpointerdown: (event) => this.beginLine(event),
    onpointermove: (event) => this.drawLine(event),
    onpointerup: () => this.endLine(),
    onpointercancel: () => this.endLine(),
  });
  private readonly input = createElement(
    "input",
    this.makeAttributes({ type: "text", autocomplete: "name", oninput: () => this.replaceDrawing() }),
  );
  private readonly clearButton = createElement(
    "button",
    { type: "button", class: "quiet", hidden: "", onclick: () => this.clearDrawing() },
    formWords.clearDrawing,
  );

  protected override makeFrame() {
    const attributes = { class: "field signature", role: "group", "aria-describedby": this.describedBy };
    const legend = createElement("legend", {}, ...this.makeLabel());
    return createElement("fieldset", attributes, legend, ...this.makeHelp(), this.makeControl(), this.problem);
  }

  protected makeControl() {
    const label = createElement("label", { class: "hint", for: this.id }, formWords.signHere);
    return createElement("div", {}, this.canvas, this.clearButton, label, this.input);
  }

  get isDrawn() {
    return this.drawing !== null;
  }

  private get pen(): CanvasRenderingContext2D | null {
    const pen = this.canvas.getContext("2d");
    if (pen) Object.assign(pen, { lineWidth: LINE_WIDTH, lineCap: "round", lineJoin: "round" });
    if (pen) Object.assign(pen, { strokeStyle: INK, fillStyle: INK });
    return pen;
  }

  private locatePointer(event: PointerEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) * WIDTH) / box.width;
    return [x, ((event.clientY - box.top) * HEIGHT) / box.height];
  }

  private beginLine(event: PointerEvent) {
    if (event.button > 0) return;
    event.preventDefault();
    // Fails for a pointer that is not down.
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // Without capture, the line ends at the edge.
    }
    this.lastPoint = this.locatePointer(event);
    const { pen } = this;
    pen?.beginPath();
    pen?.arc(...this.lastPoint, LINE_WIDTH / 2, 0, 7);
    pen?.fill();
  }

  private drawLine(event: PointerEvent) {
    if (!this.lastPoint) return;
    const { pen } = this;
    pen?.beginPath();
    pen?.moveTo(...this.lastPoint);
    this.lastPoint = this.locatePointer(event);
    pen?.lineTo(...this.lastPoint);
    pen?.stroke();
  }

  private endLine() {
    if (!this.lastPoint) return;
    this.lastPoint = null;
    this.input.value = "";
    this.setDrawing(this.canvas.toDataURL("image/png"));
    this.reportChange();
  }

  private setDrawing(drawing: string | null) {
    this.drawing = drawing;
    this.canvas.setAttribute("aria-label", drawing ? formWords.signatureDrawn : formWords.signatureEmpty);
    this.clearButton.hidden = !drawing;
  }

  private wipeCanvas() {
    this.pen?.clearRect(0, 0, WIDTH, HEIGHT);
    this.setDrawing(null);
  }

  private clearDrawing() {
    this.wipeCanvas();
    this.reportChange();
    this.focus();
  }

  private replaceDrawing() {
    if (this.drawing) this.wipeCanvas();
    this.reportChange();
  }

  readAnswer(): string | undefined {
    return this.drawing ?? (this.input.value.trim() ? this.input.value : undefined);
  }

  showAnswer(answer: unknown) {
    const text = String(answer);
    this.wipeCanvas();
    if (!text.startsWith(IMAGE_START)) {
      this.input.value = text;
      return;
    }
    const image = new Image();
    image.addEventListener("load", () => this.pen?.drawImage(image, 0, 0, WIDTH, HEIGHT));
    image.src = text;
    this.setDrawing(text);
  }
}
