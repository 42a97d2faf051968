import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { PageSwitcher } from "../../shared/list/pages";
import { SearchField } from "../../shared/list/search_field";
import { Sheet } from "../../shared/patterns/sheet";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { PRICE_SOURCES, type PriceFilters } from "./filters";
import { NewPriceButton } from "./new_price";
import { PriceTable } from "./price_table";
import { modelPricesQuery, PRICES_PER_PAGE } from "./queries";
import { UnpricedModels } from "./unpriced_models";
import { UsagePage } from "./usage_page";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");

/** What models cost: the organization's own prices, those of the server, and the list. */
export default function PricesPage() {
  const filters = useSearch({ from: "/frame/usage/prices" });
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const mayWrite = may("usage:write");
  const list = useQuery(modelPricesQuery(filters));
  const changeFilters = (change: PriceFilters) =>
    void navigate({ to: "/usage/prices", search: { ...filters, page: undefined, ...change }, replace: true });
  const rows = list.data?.data;
  const total = list.data?.pagination.total ?? 0;
  return (
    <UsagePage tab="prices" actions={mayWrite && <NewPriceButton />}>
      <Sheet>
        {may("usage:read") && <UnpricedModels mayWrite={mayWrite} />}
        <div className="stack g8">
          <div className="row g8 wrap">
            <SearchField
              label={say("findModel")}
              value={filters.search}
              onChange={(search) => changeFilters({ search })}
            />
            <SegmentedControl
              aria-label={say("source")}
              data={PRICE_SOURCES.map((value) => ({ value, label: say(`source_${value}`) }))}
              value={filters.source ?? "tenant"}
              onChange={(value) =>
                changeFilters({
                  source: PRICE_SOURCES.find((name) => name === value && name !== "tenant") as PriceFilters["source"],
                })
              }
            />
          </div>
          <p className="t-12 t-3">{say("priceOrder")}</p>
          {list.error && !rows ? (
            <FailureState error={list.error} onRetry={() => void list.refetch()} />
          ) : !rows ? (
            <RowSkeletons rows={5} columns={[240, 300, 100]} />
          ) : rows.length ? (
            <PriceTable prices={rows} mayWrite={mayWrite} />
          ) : (
            <div className="card">
              <EmptyState title={say(filters.search ? "noMatchTitle" : "noPricesTitle")}>
                {say(
                  filters.search ? "noPriceMatch" : `noPrices_${filters.source === "instance" ? "instance" : "tenant"}`,
                )}
              </EmptyState>
            </div>
          )}
          <PageSwitcher
            page={filters.page ?? 1}
            perPage={PRICES_PER_PAGE}
            total={total}
            onChange={(page) => changeFilters({ page })}
          />
        </div>
      </Sheet>
    </UsagePage>
  );
}
