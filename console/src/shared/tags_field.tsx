import "./pills.css";
import { Pill, TagsInput, type TagsInputProps } from "@mantine/core";
import { general } from "./i18n/general";

/** A field with several words; each has a sign of its own, with a name, that takes it away. */
export const TagsField = (props: TagsInputProps) => (
  <TagsInput
    {...props}
    renderPill={({ value, onRemove, disabled }) => (
      <Pill
        withRemoveButton={!disabled}
        onRemove={onRemove}
        removeButtonProps={{
          "aria-label": general("remove", { name: value ?? "" }),
          "aria-hidden": false,
          tabIndex: 0,
        }}
      >
        {value}
      </Pill>
    )}
  />
);
