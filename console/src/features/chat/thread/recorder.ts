import { Store } from "../../../shared/store";

/** Why nothing can be recorded. */
export type RecordingProblem = "noMicrophone" | "microphoneRefused" | "microphoneBusy" | "cannotRecord";
export type Recording = {
  state: "idle" | "asking" | "recording";
  startedMs: number;
  /** When it ended by itself, as it was as long as a recording may be. */
  endedMs?: number;
  /** How loud it was lately, from 0 to 1, the newest last. */
  levels: number[];
  problem?: RecordingProblem;
};

const MAX_LEVELS = 32;
const LEVEL_MS = 90;
/** The server takes 25 MB; speech of this length stays far below it. */
const MAX_RECORDING_MS = 10 * 60_000;
const IDLE: Recording = { state: "idle", startedMs: 0, endedMs: undefined, levels: [], problem: undefined };

/** The reason that a browser gives, as far as a person can mend it. */
export function findRecordingProblem(error: unknown): RecordingProblem {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return "microphoneRefused";
  if (name === "NotFoundError" || name === "OverconstrainedError") return "noMicrophone";
  return name === "NotReadableError" || name === "AbortError" ? "microphoneBusy" : "cannotRecord";
}

/** How loud some samples are: from 0 for silence to 1. */
export function measureLevel(samples: Uint8Array): number {
  const sum = samples.reduce((all, sample) => all + ((sample - 128) / 128) ** 2, 0);
  return Math.min(1, Math.sqrt(sum / Math.max(1, samples.length)) * 4);
}

/** Records what somebody says, until it is used or discarded. */
export class VoiceRecorder extends Store<Recording> {
  #recorder: MediaRecorder | undefined;
  #parts: Blob[] = [];
  /** Resolves when the recorder has handed out all of its parts. */
  #ended: Promise<void> | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #context: AudioContext | undefined;

  constructor() {
    super(IDLE);
  }

  readonly start = async () => {
    if (this.getSnapshot().state !== "idle") return;
    this.update({ ...IDLE, state: "asking" });
    let stream: MediaStream | undefined;
    try {
      if (!navigator.mediaDevices || typeof MediaRecorder === "undefined") throw new Error("no recorder");
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      // A page that was left meanwhile records nothing.
      if (this.getSnapshot().state !== "asking") return stopTracks(stream);
      this.#record(stream);
    } catch (error) {
      if (stream) stopTracks(stream);
      this.discard();
      this.update({ problem: findRecordingProblem(error) });
    }
  };

  /** End the recording and return it; undefined if nothing was recorded. */
  readonly finish = async (): Promise<Blob | undefined> => {
    const recorder = this.#recorder;
    if (!recorder) return;
    await this.#end(recorder);
    const recording = new Blob(this.#parts, { type: recorder.mimeType });
    this.discard();
    return recording.size ? recording : undefined;
  };

  readonly discard = () => {
    clearInterval(this.#timer);
    if (this.#recorder) stopTracks(this.#recorder.stream);
    void this.#context?.close();
    this.#recorder = undefined;
    this.#context = undefined;
    this.#parts = [];
    this.#ended = undefined;
    this.update(IDLE);
  };

  protected override deactivate() {
    this.discard();
  }

  #end(recorder: MediaRecorder): Promise<void> {
    this.#ended ??= new Promise((done) => {
      recorder.onstop = () => done();
      recorder.stop();
    });
    return this.#ended;
  }

  #record(stream: MediaStream) {
    const recorder = new MediaRecorder(stream);
    this.#recorder = recorder;
    recorder.ondataavailable = ({ data }) => this.#parts.push(data);
    recorder.start();
    this.#context = new AudioContext();
    const analyser = this.#context.createAnalyser();
    this.#context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Uint8Array(analyser.fftSize);
    const startedMs = Date.now();
    this.update({ state: "recording", startedMs, levels: [] });
    this.#timer = setInterval(() => {
      analyser.getByteTimeDomainData(samples);
      const { levels } = this.getSnapshot();
      this.update({ levels: [...levels, measureLevel(samples)].slice(-MAX_LEVELS) });
      if (Date.now() - startedMs < MAX_RECORDING_MS) return;
      clearInterval(this.#timer);
      this.update({ endedMs: Date.now() });
      void this.#end(recorder).then(() => stopTracks(stream));
    }, LEVEL_MS);
  }
}

const stopTracks = (stream: MediaStream) => {
  for (const track of stream.getTracks()) track.stop();
};
