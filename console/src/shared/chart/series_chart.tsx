import { type PointerEvent, type ReactNode, useState } from "react";
import type { Hue } from "../marks/hues";
import { chooseLabelledPlaces, computeTicks, drawSvgPath, findLonePoints } from "./scale";
import style from "./series_chart.module.css";

const STEP = 10;
const HEIGHT = 100;

export type Series = {
  name: string;
  values: (number | null)[];
  /** One of a kind has the hue of its mark. */
  tone: "calm" | "bad" | "first" | "second" | Hue;
};
const PLAIN_TONES = ["calm", "bad", "first", "second"];
const toneProps = (tone: Series["tone"]) =>
  PLAIN_TONES.includes(tone) ? { "data-tone": tone } : { "data-tone": "hue" };
const hueClassOf = (tone: Series["tone"]) => (PLAIN_TONES.includes(tone) ? "" : `k-${tone}`);
type Props = {
  title: string;
  /** "17 Nov" or "08:00" for each place. */
  places: string[];
  /** The first column of the table that stands for the chart: "Day" or "Hour". */
  placeName: string;
  series: Series[];
  kind: "bars" | "lines";
  format: (value: number) => string;
  isTall?: boolean;
  children?: ReactNode;
};

/** A chart in our own lines: bars one upon the other, or lines; the values of a place appear where the legend stands. */
export function SeriesChart({ title, places, placeName, series, kind, format, isTall, children }: Props) {
  const [at, setAt] = useState<number>();
  const sums = places.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const largest = kind === "bars" ? Math.max(...sums) : Math.max(...series.flatMap((one) => one.values.map(Number)));
  const ticks = computeTicks(largest);
  const top = ticks.at(-1) ?? 1;
  const width = places.length * STEP;
  const findPointedPlace = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const place = Math.floor(((event.clientX - box.left) / box.width) * places.length);
    setAt(Math.min(places.length - 1, Math.max(0, place)));
  };
  return (
    <figure className={`card ${style.chart}`}>
      <figcaption className={style.chartHead}>
        <h3 className="t-sec grow">{title}</h3>
        <span className={style.legend} aria-hidden>
          {at !== undefined && <span className="t-500">{places[at]}</span>}
          {series.map(({ name, values, tone }) => {
            const value = at === undefined ? undefined : values[at];
            return (
              <span key={name} className={`${style.key} ${hueClassOf(tone)}`} {...toneProps(tone)} data-kind={kind}>
                <span className={`cut ${style.label}`}>{name}</span>
                {at !== undefined && <b className="num">{value == null ? "–" : format(value)}</b>}
              </span>
            );
          })}
        </span>
      </figcaption>
      <div className={style.plot} data-tall={isTall || undefined} aria-hidden>
        {ticks.slice(1).map((tick) => (
          <span key={tick} className={style.tick} style={{ bottom: `${(tick / top) * 100}%` }}>
            <span className="num">{format(tick)}</span>
          </span>
        ))}
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the table below has its values */}
        <svg
          viewBox={`0 0 ${width} ${HEIGHT}`}
          preserveAspectRatio="none"
          onPointerMove={findPointedPlace}
          onPointerLeave={() => setAt(undefined)}
        >
          {at !== undefined && <rect className={style.cursor} x={at * STEP} y={0} width={STEP} height={HEIGHT} />}
          {kind === "bars" ? <ChartBars series={series} top={top} /> : <ChartLines series={series} top={top} />}
        </svg>
      </div>
      <div className={style.places} aria-hidden>
        {chooseLabelledPlaces(places.length).map((place) => (
          <span key={place} className="num" style={{ insetInlineStart: `${((place + 0.5) / places.length) * 100}%` }}>
            {places[place]}
          </span>
        ))}
      </div>
      <ChartValueTable caption={title} placeName={placeName} places={places} series={series} format={format} />
      {children}
    </figure>
  );
}

type Drawn = { series: Series[]; top: number };
const barHeightOf = (value: number, top: number) => (value / top) * HEIGHT;

function ChartBars({ series, top }: Drawn) {
  const below = new Array<number>(series[0]?.values.length ?? 0).fill(0);
  return series.map(({ name, values, tone }) => (
    <g key={name} className={`${style.mark} ${hueClassOf(tone)}`} {...toneProps(tone)}>
      {values.map((value, i) => {
        const height = barHeightOf(value ?? 0, top);
        const y = HEIGHT - barHeightOf(below[i] ?? 0, top) - height;
        below[i] = (below[i] ?? 0) + (value ?? 0);
        return height > 0 && <rect key={i} x={i * STEP + 1.5} y={y} width={STEP - 3} height={height} />;
      })}
    </g>
  ));
}

function ChartLines({ series, top }: Drawn) {
  const createLinePath = (values: (number | null)[]) =>
    drawSvgPath(
      values,
      (at) => (at + 0.5) * STEP,
      (value) => HEIGHT - barHeightOf(value, top),
    );
  return series.map(({ name, values, tone }) => (
    <g key={name} className={`${style.line} ${hueClassOf(tone)}`} {...toneProps(tone)}>
      <path d={createLinePath(values)} vectorEffect="non-scaling-stroke" />
      <path className={style.dot} d={createLinePath(findLonePoints(values))} vectorEffect="non-scaling-stroke" />
    </g>
  ));
}

/** The same values for those who cannot see the chart. */
function ChartValueTable({
  caption,
  placeName,
  places,
  series,
  format,
}: Omit<Props, "kind" | "title"> & { caption: string }) {
  return (
    <div className="sr">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{placeName}</th>
            {series.map(({ name }) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {places.map((place, i) => (
            <tr key={place}>
              <th scope="row">{place}</th>
              {series.map(({ name, values }) => {
                const value = values[i];
                return <td key={name}>{value == null ? "–" : format(value)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
