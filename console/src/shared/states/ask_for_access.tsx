import { Button, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrapData } from "../../api/client";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/states");

/** Ask the administrators for a permission, with a word why. */
export function AskForAccessNote({ permission }: { permission: string }) {
  const [isOpen, setOpen] = useState(false);
  const [note, setNote] = useState("");
  const ask = useMutation({
    mutationFn: () => unwrapData(api.POST("/api/v1/access-requests", { body: { permission, note } })),
  });
  if (ask.isSuccess || (ask.error && asApiError(ask.error).code === "access_already_requested"))
    return (
      <p className="t-13 t-2" role="status">
        {ask.isSuccess ? say("asked") : say("askedBefore")}
      </p>
    );
  if (!isOpen) return <Button onClick={() => setOpen(true)}>{say("ask")}</Button>;
  return (
    <form
      className="stack g8"
      style={{ inlineSize: 320, textAlign: "start" }}
      onSubmit={(event) => {
        event.preventDefault();
        ask.mutate();
      }}
    >
      <Textarea
        label={say("askNote")}
        value={note}
        maxLength={500}
        autosize
        minRows={2}
        data-autofocus
        onChange={(event) => setNote(event.currentTarget.value)}
        error={ask.error ? asApiError(ask.error).message : undefined}
      />
      <div>
        <Button type="submit" loading={ask.isPending}>
          {say("askSend")}
        </Button>
      </div>
    </form>
  );
}
