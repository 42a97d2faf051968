import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { createTranslator } from "../i18n/words";
import { EmptyState } from "../states/empty";
import en from "./words.en.json";

const say = createTranslator(en, "shared/list");

/** A list without a row that fits its filters, and the way back to all rows. */
export const NothingFound = ({ onClear, children }: { onClear?: () => void; children: ReactNode }) => (
  <EmptyState
    title={say("nothingFound")}
    actions={
      onClear && (
        <Button variant="default" onClick={onClear}>
          {say("clearFilters")}
        </Button>
      )
    }
  >
    {children}
  </EmptyState>
);
