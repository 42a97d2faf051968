import { Link } from "@tanstack/react-router";
import type { components } from "../../api/schema";
import { createTranslator } from "../i18n/words";
import { showToast } from "../toast/toasts";
import en from "./words.en.json";

const say = createTranslator(en, "shared/agent");

/** Say which version people get now, with the way to where it is shared. */
export function announcePublished({ id, name, version }: components["schemas"]["PublishedAgent"]) {
  showToast(
    say("publishedNow", { name, version: `v${version}` }),
    <Link to="/agents/$agentId/share" params={{ agentId: id }}>
      {say("shareIt")}
    </Link>,
  );
}
