import { describe, expect, it } from "vitest";
import { layOutRows, placeDuration, type Span, summarizeTrace, type Trace } from "./layout";

const START = Date.parse("2026-11-16T12:00:00Z");
const span = (id: string, parent: string | null, kind: Span["kind"], at: number, took: number, more = {}): Span => ({
  span_id: id,
  parent_span_id: parent,
  name: `do ${id}`,
  kind,
  started_at: new Date(START + at).toISOString(),
  duration_ms: took,
  status: "ok",
  error: null,
  attributes: {},
  events: [],
  links: [],
  message_id: null,
  execution_id: null,
  delivery_id: null,
  ...more,
});

describe("the layout of a trace", () => {
  it("puts children under their parents, in the order of their start", () => {
    const { rows, ticks } = layOutRows([
      span("tool", "turn", "tool", 600, 200),
      span("model", "turn", "model", 0, 500),
      span("turn", null, "turn", 0, 1000),
      span("inner", "tool", "model", 650, 50),
    ]);
    expect(rows.map((row) => [row.span.span_id, row.depth])).toEqual([
      ["turn", 0],
      ["model", 1],
      ["tool", 1],
      ["inner", 2],
    ]);
    expect(rows.map((row) => [row.left, row.width].map((share) => Math.round(share * 100)))).toEqual([
      [0, 100],
      [0, 50],
      [60, 20],
      [65, 5],
    ]);
    expect(ticks.map((tick) => tick.ms)).toEqual([0, 250, 500, 750, 1000]);
  });
  it("leaves out what is folded and survives missing parents and circles", () => {
    const spans = [span("a", null, "turn", 0, 10), span("b", "a", "tool", 1, 2), span("lost", "gone", "job", 3, 1)];
    expect(layOutRows(spans, new Set(["a"])).rows.map((row) => row.span.span_id)).toEqual(["a", "lost"]);
    const circle = [span("x", "y", "tool", 0, 1), span("y", "x", "tool", 0, 1)];
    expect(layOutRows(circle).rows.map((row) => row.span.span_id)).toEqual(["x", "y"]);
    expect(layOutRows([]).rows).toEqual([]);
  });
  it("draws a long wait for a person shorter and says its true times", () => {
    const hour = 3_600_000;
    const { rows, ticks } = layOutRows([
      span("turn", null, "turn", 0, 1000),
      span("wait", "turn", "approval", 1000, hour),
      span("after", "turn", "model", 1000 + hour, 1000),
    ]);
    const [turn, wait, after] = rows;
    expect(turn?.width).toBeCloseTo(1 / 2.8);
    expect(wait?.width).toBeCloseTo(0.8 / 2.8);
    expect(after?.width).toBeCloseTo(1 / 2.8);
    expect(ticks.at(-1)?.ms).toBe(hour + 2000);
  });
  it("reads tokens, the first word, and failures", () => {
    const attributes = {
      "gen_ai.usage.input_tokens": 90,
      "gen_ai.usage.output_tokens": 10,
      "gen_ai.usage.cache_read.input_tokens": 45,
      "gen_ai.response.time_to_first_chunk": 0.2,
      "gen_ai.response.model": "m",
    };
    const spans = [
      span("m", null, "model", 100, 400, { attributes }),
      span("t", null, "tool", 500, 10, { status: "error", error: { code: "timeout", message: "" } }),
    ];
    const [model, tool] = layOutRows(spans).rows;
    expect([model?.tokens, model?.cachedShare, model?.firstShare, model?.note]).toEqual([100, 0.5, 0.5, "m"]);
    expect([tool?.kind, tool?.note]).toEqual(["bad", "It was not finished in time."]);
    const sums = summarizeTrace({ spans, duration_ms: 410 } as Trace);
    expect(sums).toEqual({ totalMs: 410, afterMs: 0, waitedMs: 0, firstWordMs: 200, calls: 2, failed: 1 });
  });
  it("counts the time until the reply was complete, not what hangs behind it", () => {
    const reply = { message_id: "msg_1" };
    const spans = [
      span("turn", null, "turn", 0, 1000, reply),
      span("wait", "turn", "approval", 1000, 5000),
      span("resumed", "turn", "turn", 6000, 500, reply),
      span("hook", "turn", "delivery", 6600, 3400),
      span("other", "hook", "turn", 9000, 900, { message_id: "msg_2" }),
    ];
    const { totalMs, waitedMs, afterMs } = summarizeTrace({ spans, duration_ms: 10_000 } as Trace);
    expect([totalMs, waitedMs, afterMs]).toEqual([6500, 5000, 3500]);
  });
  it("puts the time of a bar where a third of the width is free", () => {
    expect(placeDuration({ left: 0, width: 0.6 })).toBe("after");
    expect(placeDuration({ left: 0.3, width: 0.45 })).toBe("inside");
    expect(placeDuration({ left: 0.72, width: 0.05 })).toBe("before");
    expect(placeDuration({ left: 0, width: 1 })).toBe("inside");
    for (let left = 0; left <= 1; left += 0.05)
      for (let width = 0; width <= 1 - left; width += 0.05) {
        const room = { after: 1 - left - width, before: left, inside: width }[placeDuration({ left, width })];
        expect(room).toBeGreaterThan(0.33);
      }
  });
});
