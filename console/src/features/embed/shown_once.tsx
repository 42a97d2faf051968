import { Button, Modal } from "@mantine/core";
import { guidePathOf } from "../../api/base";
import { CopyableCode } from "../../shared/code";
import { createTranslator } from "../../shared/i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");
export type ShownKey = { title: string; key: string; secret?: string };

/** A key and its secret, which nobody sees again. */
export function KeyShownOnce({ of: { title, key, secret }, onClose }: { of: ShownKey; onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={say("shownOnce", { name: title })}
      size={520}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <div className="stack g20">
        <p className="t-2">{say(secret ? "shownOnceText" : "shownKeyText")}</p>
        <div className="stack g6">
          <CopyableCode label={say("key")} text={key} />
          <p className="t-12 t-2">{say("keyText")}</p>
        </div>
        {secret && (
          <div className="stack g6">
            <CopyableCode label={say("identitySecret")} text={secret} />
            <p className="t-12 t-2">
              <b className="t-500">{say("secretWarning")}</b> {say("secretText")}{" "}
              <a className="link" href={guidePathOf("embedding.md#identify-visitors")} target="_blank" rel="noreferrer">
                {say("secretGuide")}
              </a>
            </p>
          </div>
        )}
        <Button className="push" onClick={onClose}>
          {say(secret ? "stored" : "storedKey")}
        </Button>
      </div>
    </Modal>
  );
}
