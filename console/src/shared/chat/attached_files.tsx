import FileText from "icon:file-text";
import Music from "icon:music";
import X from "icon:x";
import { ActionIcon, Progress } from "@mantine/core";
import { attachmentKindOf } from "@retinue/attachments";
import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { api } from "../../api/client";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import type { Attached, AttachedUpload } from "./attachments";
import style from "./chat.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");

/** A picture from bytes of this page. Their address is given up with the element. */
function ImagePreview({ content, alt }: { content: Blob; alt: string }) {
  const show = useCallback(
    (image: HTMLImageElement) => {
      const url = URL.createObjectURL(content);
      image.src = url;
      return () => URL.revokeObjectURL(url);
    },
    [content],
  );
  return <img ref={show} alt={alt} />;
}

const loadFileContent = async (fileId: string): Promise<Blob> => {
  const path = { file_id: fileId };
  const { data } = await api.GET("/api/v1/files/{file_id}/content", { params: { path }, parseAs: "blob" });
  return data as unknown as Blob;
};

const AttachmentIcon = ({ kind }: { kind: Attached["kind"] }) =>
  kind === "audio" ? <Music size={14} /> : <FileText size={14} />;

/** The files of a message: images as small pictures, all of them to be saved. */
export function AttachedFiles({ files }: { files: Attached[] }) {
  return (
    <ul className={style.files} aria-label={say("attached")}>
      {files.map((file) => (
        <StoredFileItem key={file.file_id} file={file} />
      ))}
    </ul>
  );
}

function StoredFileItem({ file }: { file: Attached }) {
  const may = usePermissionCheck();
  const isImage = file.kind === "image";
  const { data, isError } = useQuery({
    queryKey: ["files", file.file_id, "content"],
    queryFn: () => loadFileContent(file.file_id),
    enabled: isImage && may("files:read"),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
  const saveFile = async () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(data ?? (await loadFileContent(file.file_id)));
    link.download = file.filename;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <li className={style.file}>
      {data ? <ImagePreview content={data} alt={file.filename} /> : <AttachmentIcon kind={file.kind} />}
      {may("files:read") && !isError ? (
        <button
          type="button"
          className="cut"
          title={say("save", { name: file.filename })}
          onClick={() => void saveFile().catch(() => undefined)}
        >
          {file.filename}
        </button>
      ) : (
        <span className="cut">{file.filename}</span>
      )}
    </li>
  );
}

type UploadProps = { uploads: AttachedUpload[]; onDismiss: (key: number) => void };

/** The files of the next message, with their progress and what is wrong with them. */
export function AttachedUploads({ uploads, onDismiss }: UploadProps) {
  return (
    <ul className={style.files} aria-label={say("attached")}>
      {uploads.map((one) => (
        <UploadItem key={one.key} file={one} onDismiss={() => onDismiss(one.key)} />
      ))}
    </ul>
  );
}

function UploadItem({ file: upload, onDismiss }: { file: AttachedUpload; onDismiss: () => void }) {
  const { file, problem } = upload;
  const kind = attachmentKindOf(file.name);
  const image = kind === "image" && !problem && file instanceof File ? file : undefined;
  return (
    <li className={style.file} data-failed={problem ? true : undefined}>
      {image ? <ImagePreview content={image} alt="" /> : <AttachmentIcon kind={kind} />}
      <span className="cut">{file.name}</span>
      {problem && <span role="alert">{typeof problem === "object" ? problem.message : say(`file_${problem}`)}</span>}
      {!problem && !upload.stored && (
        <Progress size="sm" w={48} value={upload.share * 100} aria-label={say("uploading", { name: file.name })} />
      )}
      <ActionIcon size="sm" variant="subtle" aria-label={say("removeFile", { name: file.name })} onClick={onDismiss}>
        <X size={12} />
      </ActionIcon>
    </li>
  );
}
