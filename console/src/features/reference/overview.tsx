import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { basePath } from "../../api/base";
import { apiUrlOf } from "../../api/client";
import { CopyableCode } from "../../shared/code";
import { GuideLink, guidesQuery } from "../../shared/guides";
import { createTranslator } from "../../shared/i18n/words";
import { SheetSection } from "../../shared/patterns/sheet";
import type { Reference } from "./document";
import style from "./reference.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/reference");

/** How to begin: the address, access for programs, the guides and the same reference in other forms. */
export function ReferenceOverview({
  reference,
  mayCreateAccount,
}: {
  reference: Reference;
  mayCreateAccount: boolean;
}) {
  const { data: guides = [] } = useQuery(guidesQuery);
  return (
    <div className={style.page}>
      <p className="t-2">{say("intro")}</p>
      <SheetSection title={say("access")}>
        <p className="t-13 t-2">{say("accessText")}</p>
        <CopyableCode label={say("address")} text={apiUrlOf("")} />
        <CopyableCode
          label={say("firstCall")}
          text={`curl ${apiUrlOf("/me/permissions")} \\\n  -H "Authorization: Bearer $API_TOKEN"`}
        />
        <div className="row g8 wrap">
          {mayCreateAccount && (
            <Button
              size="xs"
              renderRoot={(props) => <Link {...props} to="/settings/service-accounts" search={{ create: true }} />}
            >
              {say("getToken")}
            </Button>
          )}
          {!mayCreateAccount && <span className="t-13 t-2">{say("askForAccount")}</span>}
        </div>
      </SheetSection>
      {guides.length > 0 && (
        <SheetSection title={say("guides")} note={say("guidesNote")}>
          <ul className={style.guides} lang="en">
            {guides.map(({ page, title }) => (
              <li key={page}>
                <GuideLink page={page}>{title}</GuideLink>
              </li>
            ))}
          </ul>
        </SheetSection>
      )}
      <SheetSection title={say("elsewhere")}>
        <div className="row g16 wrap t-13">
          <a href={`${basePath}/openapi.json`} target="_blank" rel="noreferrer">
            {say("document", { version: reference.document.info.version })}
          </a>
          <a href={`${basePath}/docs`} target="_blank" rel="noreferrer">
            {say("plainPage")}
          </a>
        </div>
      </SheetSection>
    </div>
  );
}
