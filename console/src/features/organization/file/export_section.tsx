import Download from "icon:download";
import { Button, SegmentedControl } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import { Note } from "../../../shared/patterns/note";
import { RefusalNote } from "../../../shared/patterns/refusal_note";
import { SheetSection } from "../../../shared/patterns/sheet";
import { translateSentence } from "../../../shared/sentences/sentences";
import style from "../organization.module.css";
import en from "../words.en.json";
import { downloadTenantFile } from "./queries";
import { sectionNameOf } from "./section_names";
import { FILE_FORMATS, FILE_SECTIONS, type FileFormat, type FileSection } from "./sections";

const say = createTranslator(en, "features/organization");

/** Take the configuration along, all of it or the chosen sections. */
export function ExportSection() {
  const [sections, setSections] = useState<FileSection[]>([]);
  const [format, setFormat] = useState<FileFormat>("yaml");
  const download = useMutation({ mutationFn: downloadTenantFile });
  const toggleSection = (section: FileSection) =>
    setSections(sections.includes(section) ? sections.filter((one) => one !== section) : [...sections, section]);
  return (
    <SheetSection title={say("export")}>
      <div className={`card ${style.card}`}>
        <p className="t-13 t-2">{say("exportText")}</p>
        <fieldset className={`row g6 wrap ${style.chips}`}>
          <legend className="sr">{say("sections")}</legend>
          {FILE_SECTIONS.map((section) => (
            <button
              key={section}
              type="button"
              className={`chip ${sections.includes(section) ? "set" : ""}`}
              aria-pressed={sections.includes(section)}
              onClick={() => toggleSection(section)}
            >
              {sectionNameOf(section)}
            </button>
          ))}
        </fieldset>
        <RefusalNote error={download.error} />
        {download.data?.map((warning) => (
          <Note key={warning} tone="warn">
            {translateSentence(warning)}
          </Note>
        ))}
        <div className="row g8 wrap">
          <SegmentedControl
            aria-label={say("format")}
            data={FILE_FORMATS.map((value) => ({ value, label: value.toUpperCase() }))}
            value={format}
            onChange={(value) => setFormat(FILE_FORMATS.find((one) => one === value) ?? "yaml")}
          />
          <Button
            size="xs"
            variant="default"
            leftSection={<Download size={14} />}
            loading={download.isPending}
            onClick={() => download.mutate({ sections, format })}
          >
            {say("download")}
          </Button>
          <span className="t-12 t-3">
            {sections.length ? say("someSections", { count: sections.length }) : say("allSections")}
          </span>
        </div>
      </div>
    </SheetSection>
  );
}
