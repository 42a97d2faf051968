import { Menu } from "@mantine/core";
import { api } from "../../api/client";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../i18n/words";
import { saveFile } from "../save_file";
import { showToast } from "../toast/toasts";
import en from "./words.en.json";

const say = createTranslator(en, "shared/conversations");
const FORMATS = ["md", "json"] as const;

/** The ways to download a conversation, as items of a menu. */
export const DownloadItems = ({ id }: { id: string }) =>
  FORMATS.map((format) => (
    <Menu.Item key={format} onClick={() => void downloadConversation(id, format)}>
      {say(`export_${format}`)}
    </Menu.Item>
  ));

async function downloadConversation(id: string, format: (typeof FORMATS)[number]) {
  try {
    const { data: content } = await api.GET("/api/v1/conversations/{conversation_id}/export", {
      params: { path: { conversation_id: id }, query: { format } },
      parseAs: "blob",
    });
    if (content) saveFile(content, `${id}.${format}`);
  } catch (error) {
    showToast(asApiError(error).message);
  }
}
