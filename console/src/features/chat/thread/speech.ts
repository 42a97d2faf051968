import { api } from "../../../api/client";
import { Store } from "../../../shared/store";
import { cutIntoPieces, plainTextOf } from "./reply_text";

const MAX_SPOKEN_LENGTH = 4096;

type Speaking = { turnId?: string; isLoading?: boolean; problem?: unknown };

async function loadSpeech(agentId: string, text: string): Promise<ArrayBuffer> {
  const { data } = await api.POST("/api/v1/agents/{agent_id}/chat/tts", {
    params: { path: { agent_id: agentId } },
    body: { text, format: "mp3" },
    parseAs: "arrayBuffer",
  });
  return data as unknown as ArrayBuffer;
}

/** Reads replies aloud, one at a time; its sound does not come from an address, which the page's rules forbid. */
class SpeechPlayer extends Store<Speaking> {
  #context: AudioContext | undefined;
  #playing: AudioBufferSourceNode | undefined;

  async play(agentId: string, turnId: string, markdown: string) {
    this.stop();
    this.update({ turnId, isLoading: true, problem: undefined });
    const isCurrent = () => this.getSnapshot().turnId === turnId;
    try {
      this.#context ??= new AudioContext();
      for (const piece of cutIntoPieces(plainTextOf(markdown), MAX_SPOKEN_LENGTH)) {
        const sound = await this.#context.decodeAudioData(await loadSpeech(agentId, piece));
        if (!isCurrent()) return;
        this.update({ isLoading: false });
        await this.#playToEnd(this.#context, sound);
        if (!isCurrent()) return;
      }
      this.stop();
    } catch (error) {
      if (isCurrent()) this.update({ turnId: undefined, isLoading: false, problem: error });
    }
  }

  readonly stop = () => {
    this.update({ turnId: undefined, isLoading: false });
    this.#playing?.stop();
    this.#playing = undefined;
  };

  protected override deactivate() {
    this.stop();
  }

  async #playToEnd(context: AudioContext, sound: AudioBuffer) {
    const source = context.createBufferSource();
    source.buffer = sound;
    source.connect(context.destination);
    this.#playing = source;
    await new Promise<void>((done) => {
      source.onended = () => done();
      source.start();
    });
  }
}

export const speech = new SpeechPlayer({});
