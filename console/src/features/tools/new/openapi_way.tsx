import Check from "icon:check";
import { Button, FileButton, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../../api/errors";
import { createTranslator } from "../../../shared/i18n/words";
import { Note } from "../../../shared/patterns/note";
import { SheetSection } from "../../../shared/patterns/sheet";
import { useFieldProblems } from "../../../shared/use_fields";
import { AboutToolSection } from "../define/about_section";
import { AuthenticationSection } from "../define/authentication_section";
import type { Definition } from "../define/definition";
import { createTool, type OpenApiPreview, previewOpenApi, useToolChange } from "../queries";
import en from "../words.en.json";
import { ChooseFunctions } from "./choose_functions";
import { CreateFoot, type WayProps } from "./create_foot";
import style from "./new_tool.module.css";
import { chooseFirstFunctions, newImportedTool, readImportedDefinition } from "./openapi_tool";
import { SkippedParts } from "./skipped_parts";

const say = createTranslator(en, "features/tools");

/** One tool from an OpenAPI document: read first, then some of its operations are chosen. */
export function OpenApiWay(props: WayProps) {
  const [text, setText] = useState("");
  const read = useMutation({ mutationFn: previewOpenApi });
  return (
    <>
      <SheetSection
        title={say("comesFrom")}
        actions={
          <FileButton
            accept=".json,.yaml,.yml,application/json"
            onChange={(file) =>
              void file?.text().then((content) => {
                setText(content);
                read.mutate(content);
              })
            }
          >
            {(button) => (
              <Button {...button} size="xs" variant="default" loading={read.isPending}>
                {say("chooseFile")}
              </Button>
            )}
          </FileButton>
        }
      >
        <Textarea
          label={say("openApiText")}
          classNames={{ input: "mono t-12" }}
          rows={5}
          spellCheck={false}
          placeholder={'openapi: 3.1.0\ninfo: { title: Parcels, version: "2.4" }'}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            read.reset();
          }}
        />
        {!read.data && (
          <Button
            size="xs"
            className={style.start}
            loading={read.isPending}
            disabled={!text.trim()}
            onClick={() => read.mutate(text)}
          >
            {say("read")}
          </Button>
        )}
        {read.error && <Note tone="bad">{asApiError(read.error).message}</Note>}
      </SheetSection>
      {read.data ? (
        <OpenApiChoice key={read.submittedAt} preview={read.data} {...props} />
      ) : (
        <p className="t-13 t-2">{say("nothingStored")}</p>
      )}
    </>
  );
}

function OpenApiChoice({ preview, onMade, onCancel }: WayProps & { preview: OpenApiPreview }) {
  const offered = preview.endpoints.map(({ name, method, path, summary }) => ({
    name,
    method,
    summary: summary || path,
    writes: method !== "GET",
  }));
  const [chosen, setChosen] = useState(() => chooseFirstFunctions(offered));
  const [entered, setEntered] = useState(() => readImportedDefinition(preview));
  const create = useToolChange(createTool);
  const { form, rest, problemOf } = useFieldProblems<string, HTMLDivElement>(create.error, [
    "name",
    "description",
    "auth_config",
  ]);
  const change = (next: Partial<Definition>) => setEntered((before) => ({ ...before, ...next }));
  const fields = { entered, isReadOnly: false, problemOf, onChange: change };
  return (
    <div className="stack g20" ref={form}>
      <Note tone="ok" icon={<Check size={15} />}>
        {say("openApiFound", { name: preview.name, count: offered.length })}
      </Note>
      <SkippedParts skipped={preview.skipped} />
      {create.error && rest && <Note tone="bad">{rest}</Note>}
      <ChooseFunctions offered={offered} chosen={chosen} onChoose={setChosen} />
      <AboutToolSection {...fields} />
      <AuthenticationSection {...fields} />
      <CreateFoot
        text={say("willMake", { count: chosen.length })}
        isBusy={create.isPending}
        isDisabled={chosen.length === 0 || !entered.name.trim()}
        onCreate={() => create.mutate(newImportedTool(entered, preview, offered, chosen), { onSuccess: onMade })}
        onCancel={onCancel}
      />
    </div>
  );
}
