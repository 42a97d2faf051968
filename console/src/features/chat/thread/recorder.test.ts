// @vitest-environment jsdom
import { afterEach, expect, test, vi } from "vitest";
import { findRecordingProblem, measureLevel, VoiceRecorder } from "./recorder";
import { formatRecordedTime } from "./recording_bar";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const failure = (name: string) => Object.assign(new Error(), { name });

test.each([
  ["NotAllowedError", "microphoneRefused"],
  ["NotFoundError", "noMicrophone"],
  ["NotReadableError", "microphoneBusy"],
  ["TypeError", "cannotRecord"],
])("a browser's %s is said as %s", (name, problem) => {
  expect(findRecordingProblem(failure(name))).toBe(problem);
});

test("silence has no level, and a loud sound has all of it", () => {
  expect(measureLevel(new Uint8Array(8).fill(128))).toBe(0);
  expect(measureLevel(new Uint8Array([0, 255, 0, 255]))).toBe(1);
});

test("a browser that cannot record says so", async () => {
  const recorder = new VoiceRecorder();
  await recorder.start();
  expect(recorder.getSnapshot()).toMatchObject({ state: "idle", problem: "cannotRecord" });
  expect(await recorder.finish()).toBeUndefined();
});

/** A browser that records; the stream's track notes that it was stopped. */
function fakeBrowser(Context: unknown) {
  const track = { isStopped: false, stop: () => (track.isStopped = true) };
  const stream = { getTracks: () => [track] };
  class Recorder {
    stream = stream;
    mimeType = "audio/webm";
    ondataavailable?: (event: { data: Blob }) => void;
    onstop?: () => void;
    start() {}
    stop() {
      this.ondataavailable?.({ data: new Blob(["x"]) });
      this.onstop?.();
    }
  }
  vi.stubGlobal("MediaRecorder", Recorder);
  vi.stubGlobal("AudioContext", Context);
  vi.stubGlobal("navigator", { mediaDevices: { getUserMedia: async () => stream } });
  return track;
}

class Context {
  createAnalyser = () => ({ fftSize: 8, getByteTimeDomainData: () => undefined });
  createMediaStreamSource = () => ({ connect: () => undefined });
  close = async () => undefined;
}

test("a recording ends by itself after ten minutes, with what was said until then", async () => {
  vi.useFakeTimers();
  const track = fakeBrowser(Context);
  const recorder = new VoiceRecorder();
  await recorder.start();
  await vi.advanceTimersByTimeAsync(599_000);
  expect([recorder.getSnapshot().endedMs, track.isStopped]).toEqual([undefined, false]);
  await vi.advanceTimersByTimeAsync(2000);
  const { endedMs, levels } = recorder.getSnapshot();
  expect([Boolean(endedMs), track.isStopped]).toEqual([true, true]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(recorder.getSnapshot().levels).toBe(levels);
  expect((await recorder.finish())?.size).toBe(1);
  expect(recorder.getSnapshot()).toMatchObject({ state: "idle", endedMs: undefined });
});

test("a browser that fails after it gave the microphone gets it back", async () => {
  const track = fakeBrowser(undefined);
  const recorder = new VoiceRecorder();
  await recorder.start();
  expect(track.isStopped).toBe(true);
  expect(recorder.getSnapshot()).toMatchObject({ state: "idle", problem: "cannotRecord" });
});

test("the time of a recording is in minutes and seconds", () => {
  expect([0, 7400, 65_000].map((ms) => formatRecordedTime(1000, 1000 + ms))).toEqual(["0:00", "0:07", "1:05"]);
});
