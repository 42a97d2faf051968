import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../../api/errors";
import { createTranslator } from "../../../shared/i18n/words";
import { Note } from "../../../shared/patterns/note";
import { SheetSection } from "../../../shared/patterns/sheet";
import { useFieldProblems } from "../../../shared/use_fields";
import { AuthenticationSection } from "../define/authentication_section";
import type { Definition } from "../define/definition";
import { importMcp, type JsonValues, type McpPreview, previewMcp, useToolChange } from "../queries";
import en from "../words.en.json";
import { ChooseFunctions } from "./choose_functions";
import { CreateFoot, type WayProps } from "./create_foot";
import { newDefinitionOf } from "./form_way";
import style from "./new_tool.module.css";
import { chooseFirstFunctions } from "./openapi_tool";
import { SkippedParts } from "./skipped_parts";

const say = createTranslator(en, "features/tools");

/** One tool from an MCP server: it is asked what it offers, then some of it is chosen. */
export function McpServerWay(props: WayProps) {
  const [address, setAddress] = useState("");
  const [entered, setEntered] = useState<Definition>(() => newDefinitionOf("custom/mcp"));
  const list = useMutation({ mutationFn: previewMcp });
  const { form, rest, problemOf } = useFieldProblems<string, HTMLDivElement>(list.error, ["server_url", "auth_config"]);
  const request = {
    server_url: address.trim(),
    auth_type: entered.authType,
    ...(entered.authConfig ? { auth_config: entered.authConfig } : {}),
  };
  return (
    <div className="stack g20" ref={form}>
      <SheetSection title={say("comesFrom")}>
        <TextInput
          label={say("key_server_url")}
          type="url"
          placeholder="https://mcp.example.com/mcp"
          error={problemOf("server_url")}
          value={address}
          onChange={(event) => {
            setAddress(event.currentTarget.value);
            list.reset();
          }}
        />
      </SheetSection>
      <AuthenticationSection
        entered={entered}
        isReadOnly={false}
        problemOf={problemOf}
        onChange={(change) => {
          setEntered((before) => ({ ...before, ...change }));
          list.reset();
        }}
      />
      {list.error && rest && <Note tone="bad">{asApiError(list.error).message}</Note>}
      {list.data ? (
        <McpChoice key={list.submittedAt} preview={list.data} request={request} {...props} />
      ) : (
        <div className={style.foot}>
          <span className="t-13 t-2 grow">{say("nothingStored")}</span>
          <Button loading={list.isPending} disabled={!address.trim()} onClick={() => list.mutate(request)}>
            {say("askServer")}
          </Button>
        </div>
      )}
    </div>
  );
}

type McpChoiceProps = WayProps & { preview: McpPreview; request: Parameters<typeof previewMcp>[0] };

function McpChoice({ preview, request, onMade, onCancel }: McpChoiceProps) {
  const described = (preview.config.functions ?? {}) as Record<string, JsonValues>;
  const offered = preview.functions.map((name) => ({
    name,
    summary: String(described[name]?.description ?? ""),
    writes: described[name]?.requires_approval === true,
  }));
  const [chosen, setChosen] = useState(() => chooseFirstFunctions(offered));
  const [name, setName] = useState(preview.name);
  const create = useToolChange(importMcp);
  return (
    <>
      <SkippedParts skipped={preview.skipped} />
      {create.error && <Note tone="bad">{asApiError(create.error).message}</Note>}
      <ChooseFunctions offered={offered} chosen={chosen} onChoose={setChosen} />
      <TextInput
        label={say("name")}
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <CreateFoot
        text={say("willMake", { count: chosen.length })}
        isBusy={create.isPending}
        isDisabled={chosen.length === 0 || !name.trim()}
        onCreate={() => create.mutate({ ...request, name: name.trim(), tools: chosen }, { onSuccess: onMade })}
        onCancel={onCancel}
      />
    </>
  );
}
