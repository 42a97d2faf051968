import { createElement } from "@retinue/elements";
import type { AttachmentTray } from "@retinue/widget/attachment_tray";
import type { HostedWords } from "@retinue/words/hosted";
import { createPageIcon } from "./icons";

/** The endings that the service takes, by what browsers record. */
const ENDINGS: [type: string, ending: string][] = [
  ["audio/webm", "webm"],
  ["audio/mp4", "m4a"],
  ["audio/ogg", "ogg"],
];

const stopTracks = (stream: MediaStream) => {
  for (const track of stream.getTracks()) track.stop();
};

/** A button that records a voice message, which is sent like a file; the service hears what was said. */
export class VoiceButton {
  readonly element = createElement("button", { type: "button", class: "tool voice" }, createPageIcon("mic", 18));
  private recorder: MediaRecorder | undefined;
  private stream: MediaStream | undefined;
  /** Whether the browser asks the person for the microphone just now. */
  private isAsking = false;
  private isReleased = false;

  constructor(
    private readonly words: HostedWords,
    private readonly tray: AttachmentTray,
    private readonly complain: (text: string) => void,
  ) {
    this.element.addEventListener("click", () => {
      if (this.recorder?.state === "recording") this.recorder.stop();
      else if (!this.isAsking) void this.startRecording();
    });
    this.showState();
  }

  /** Let go of the microphone, also if the browser grants it only later. What was being said is not sent. */
  release() {
    this.isReleased = true;
    this.stopStream();
  }

  private showState() {
    const isRecording = this.recorder?.state === "recording";
    const label = isRecording ? this.words.stopSpeaking : this.words.speak;
    this.element.setAttribute("aria-label", label);
    this.element.setAttribute("aria-pressed", String(isRecording));
    // Not `disabled`, which would take the focus from the button that has to stop the recording.
    this.element.setAttribute("aria-disabled", String(this.isAsking));
    this.element.title = label;
  }

  private async startRecording() {
    this.complain("");
    this.isReleased = false;
    this.isAsking = true;
    this.showState();
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      if (this.isReleased) this.stopStream();
      else this.recorder = this.recordInto(this.stream);
    } catch {
      this.stopStream();
      this.complain(this.words.noMicrophone);
    }
    this.isAsking = false;
    this.showState();
  }

  private recordInto(stream: MediaStream): MediaRecorder {
    const [type, ending] = ENDINGS.find(([known]) => MediaRecorder.isTypeSupported(known)) ?? ["", "webm"];
    const made = new MediaRecorder(stream, type ? { mimeType: type } : {});
    const pieces: Blob[] = [];
    made.addEventListener("dataavailable", ({ data }) => pieces.push(data));
    made.addEventListener("stop", () => {
      stopTracks(stream);
      if (!this.isReleased) this.attach(new File(pieces, `${this.words.voiceMessage}.${ending}`, { type }));
      this.showState();
    });
    made.start();
    return made;
  }

  private attach(file: File) {
    const files = new DataTransfer();
    files.items.add(file);
    this.tray.add(files.files);
  }

  private stopStream() {
    if (this.stream) stopTracks(this.stream);
    this.stream = undefined;
  }
}
