import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { FailureState, NotFoundState, RowSkeletons } from "../../shared/states/states";
import { referenceQuery } from "./document";
import { OperationList } from "./operation_list";
import { OperationPage } from "./operation_page";
import { ReferenceOverview } from "./overview";
import style from "./reference.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/reference");

/** Every operation of the API of this server, to read and to try as the signed-in person. */
export default function ReferencePage() {
  const { operationId } = useParams({ strict: false });
  const { search } = useSearch({ strict: false }) as { search?: string };
  const navigate = useNavigate();
  const mayCreateAccount = usePermissionCheck()("service_accounts:write");
  const { data: reference, error, refetch } = useQuery(referenceQuery);
  const operation = reference?.operations.find(({ id }) => id === operationId);
  const changeSearch = (text?: string) =>
    void navigate({ to: ".", search: text ? { search: text } : {}, replace: true });
  return (
    <>
      <PageBar
        trail={operationId ? [{ label: say("title"), to: "/reference" }] : []}
        title={operationId ? (operation?.title ?? operationId) : say("title")}
        isThere={!operationId || Boolean(operation)}
        after={!operationId && reference && <span className="t-13 t-3 num">{reference.operations.length}</span>}
      >
        {mayCreateAccount && (
          <Button
            variant="default"
            renderRoot={(props) => <Link {...props} to="/settings/service-accounts" search={{ create: true }} />}
          >
            {say("getToken")}
          </Button>
        )}
      </PageBar>
      {error && !reference && <FailureState error={error} onRetry={() => void refetch()} />}
      {!error && !reference && <RowSkeletons columns={[60, 300]} />}
      {reference && (
        <div className={style.split} data-open={operationId ? true : undefined}>
          <OperationList reference={reference} chosenId={operationId} text={search ?? ""} onSearch={changeSearch} />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
          <section className={style.detail} tabIndex={0} aria-label={operation?.title ?? say("title")}>
            {operation ? (
              <OperationPage key={operation.id} reference={reference} operation={operation} />
            ) : operationId ? (
              <NotFoundState />
            ) : (
              <ReferenceOverview reference={reference} mayCreateAccount={mayCreateAccount} />
            )}
          </section>
        </div>
      )}
    </>
  );
}
