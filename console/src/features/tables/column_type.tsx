import AtSign from "icon:at-sign";
import Braces from "icon:braces";
import Calendar from "icon:calendar";
import CalendarClock from "icon:calendar-clock";
import CircleDot from "icon:circle-dot";
import FileImage from "icon:file-image";
import Globe from "icon:globe";
import Hash from "icon:hash";
import LinkIcon from "icon:link-2";
import Sigma from "icon:sigma";
import Tags from "icon:tags";
import ToggleLeft from "icon:toggle-left";
import Type from "icon:type";
import type { ComponentType } from "react";
import { createTranslator } from "../../shared/i18n/words";
import type { ColumnTypeName } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/tables");

const ICONS: Record<ColumnTypeName, ComponentType<{ size?: number }>> = {
  text: Type,
  number: Sigma,
  integer: Hash,
  boolean: ToggleLeft,
  date: Calendar,
  datetime: CalendarClock,
  select: CircleDot,
  multi_select: Tags,
  email: AtSign,
  url: Globe,
  json: Braces,
  file: FileImage,
  reference: LinkIcon,
};
export const COLUMN_TYPES = Object.keys(ICONS) as ColumnTypeName[];

export function ColumnTypeIcon({ type }: { type: ColumnTypeName }) {
  const Icon = ICONS[type];
  return <Icon size={13} />;
}

export const columnTypeName = (type: ColumnTypeName) => say(`type_${type}`);
/** Numbers stand at the end of their cells. */
export const isNumericColumn = (type: ColumnTypeName) => type === "number" || type === "integer";
/** What has no order cannot be sorted by. */
export const isSortableColumn = (type: ColumnTypeName) => type !== "json" && type !== "multi_select";
