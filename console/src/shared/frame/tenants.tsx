import Check from "icon:check";
import ChevronsUpDown from "icon:chevrons-up-down";
import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrapData } from "../../api/client";
import { meQuery, tenantQuery } from "../../api/queries";
import { actInTenant } from "../../api/tenant";
import { createTranslator } from "../i18n/words";
import { Logo } from "../marks/logo";
import style from "./frame.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");
const MAX_TENANTS = 50;

function TenantName() {
  const { data: tenant } = useQuery(tenantQuery);
  return (
    <>
      <span className={style.mark}>
        <Logo size={18} />
      </span>
      <span className={`grow cut ${style.word}`}>
        <b>{tenant?.name ?? "Retinue"}</b>
      </span>
    </>
  );
}

/** The name of the tenant; super administrators choose another one to act in. */
export function TenantMenu() {
  const { data: me } = useQuery(meQuery);
  const { data: current } = useQuery(tenantQuery);
  const [isOpen, setOpen] = useState(false);
  const tenants = useQuery({
    queryKey: ["tenants", "list"],
    queryFn: () =>
      unwrapData(api.GET("/api/v1/tenants", { params: { query: { per_page: MAX_TENANTS, sort: "name" } } })),
    enabled: isOpen,
  });
  if (me?.role !== "super_admin")
    return (
      <div className={style.tenant}>
        <TenantName />
      </div>
    );
  return (
    <Menu position="bottom-start" width={240} opened={isOpen} onChange={setOpen}>
      <Menu.Target>
        <button type="button" className={`${style.tenant} ${style.choose}`} aria-label={say("actIn")}>
          <TenantName />
          <ChevronsUpDown size={14} className={style.word} />
        </button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflow: "auto" }}>
        <Menu.Label>{say("actIn")}</Menu.Label>
        {(tenants.data?.data ?? []).map((one) => (
          <Menu.Item
            key={one.id}
            rightSection={one.id === current?.id ? <Check size={14} /> : undefined}
            onClick={() => actInTenant(one.id === me.tenant_id ? undefined : one.id)}
          >
            {one.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
