const SENTENCE_END = /[.!?…:]["”»)]?(?=\s)|\n/g;

/** Hands on what is written sentence by sentence, so that a screen reader does not read syllables. */
export class SentenceSpeaker {
  private spoken = 0;
  private isHearing = false;

  constructor(private readonly say: (sentence: string) => void) {}

  /** The text so far; whole sentences that are new in it are said. */
  hear(text: string) {
    this.isHearing = true;
    const end = [...text.matchAll(SENTENCE_END)].at(-1);
    if (end) this.sayUntil(text, end.index + end[0].length);
  }

  /** The whole text; what is left of it is said. A text that nobody wrote just now is not. */
  finish(text: string) {
    if (this.isHearing) this.sayUntil(text, text.length);
    this.spoken = 0;
    this.isHearing = false;
  }

  private sayUntil(text: string, end: number) {
    const sentence = text.slice(this.spoken, end).trim();
    this.spoken = Math.max(this.spoken, end);
    if (sentence) this.say(sentence);
  }
}
