import Blocks from "icon:blocks";
import Braces from "icon:braces";
import FileJson from "icon:file-json-2";
import Plug from "icon:plug";
import Terminal from "icon:terminal";
import { lazy, Suspense, useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import en from "../words.en.json";
import type { WayProps } from "./create_foot";
import { FormWay } from "./form_way";
import style from "./new_tool.module.css";
import { OpenApiWay } from "./openapi_way";

// They read what other programs say, and come when they are chosen.
const CurlCommandWay = lazy(() => import("./curl_way").then((found) => ({ default: found.CurlCommandWay })));
const McpServerWay = lazy(() => import("./mcp_way").then((found) => ({ default: found.McpServerWay })));
const say = createTranslator(en, "features/tools");
const WAYS = [
  { name: "openapi", icon: FileJson },
  { name: "curl", icon: Terminal },
  { name: "mcp", icon: Plug },
  { name: "function", icon: Braces },
  { name: "other", icon: Blocks },
] as const;
type WayName = (typeof WAYS)[number]["name"];

/** Five ways to a tool. Nothing is stored until it is created. */
export function NewTool(props: WayProps) {
  const [way, setWay] = useState<WayName>("openapi");
  return (
    <>
      <div className={style.ways}>
        {WAYS.map(({ name, icon: Icon }) => (
          <button
            key={name}
            type="button"
            className={style.way}
            aria-pressed={way === name}
            onClick={() => setWay(name)}
          >
            <span className="row g8">
              <span className="kind s k-tool">
                <Icon size={13} />
              </span>
              <span className="t-500 t-13">{say(`way_${name}`)}</span>
            </span>
            <span className="t-12 t-3">{say(`way_${name}_note`)}</span>
          </button>
        ))}
      </div>
      {way === "openapi" && <OpenApiWay {...props} />}
      <Suspense fallback={null}>
        {way === "curl" && <CurlCommandWay {...props} />}
        {way === "mcp" && <McpServerWay {...props} />}
      </Suspense>
      {way === "function" && <FormWay key="function" kinds={["function"]} {...props} />}
      {way === "other" && <FormWay key="other" {...props} />}
    </>
  );
}
