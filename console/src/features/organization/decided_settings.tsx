import { Link } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import style from "./organization.module.css";
import type { DecidedSetting } from "./queries";
import { describeSetting, settingNameOf } from "./setting_words";
import en from "./words.en.json";

const say = createTranslator(en, "features/organization");

/** What is decided elsewhere, with the person or the variable of the server that decides it. */
export const DecidedSettingsTable = ({ settings, tenantId }: { settings: DecidedSetting[]; tenantId: string }) => (
  <div className="card">
    <table className={`table boxed ${style.stacked}`}>
      <caption className="sr">{say("decided")}</caption>
      <thead>
        <tr>
          <th>{say("setting")}</th>
          <th>{say("value")}</th>
          <th>{say("decidedBy")}</th>
        </tr>
      </thead>
      <tbody>
        {settings.map((setting) => (
          <tr key={setting.name}>
            <td className="t-500">{settingNameOf(setting.name)}</td>
            <td className={style.who}>{describeSetting(setting)}</td>
            <td className={`t-2 ${style.who}`}>
              <Decider setting={setting} tenantId={tenantId} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

function Decider({ setting, tenantId }: { setting: DecidedSetting; tenantId: string }) {
  const mayOperate = usePermissionCheck()("admin:tenants");
  if (setting.variable)
    return (
      <>
        {say("byOperator")} <code className="mono t-12">{setting.variable}</code>
      </>
    );
  if (!mayOperate) return say("bySuperAdmin");
  return (
    <>
      {say("bySuperAdmin")}{" "}
      <Link className="inline-link" to="/operate/organizations" search={{ id: tenantId }}>
        {say("changeThere")}
      </Link>
    </>
  );
}
