import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { permissionsQuery } from "../../api/queries";
import { SETTINGS_TABS } from "../../shared/settings/tabs";
import { FailureState, RowSkeletons } from "../../shared/states/states";

/** Leads to the first tab that this person may see; without any, to the first, which says what is missing. */
export default function FirstSettingsTab() {
  const { data: role, error, refetch } = useQuery(permissionsQuery);
  if (error) return <FailureState error={error} onRetry={() => void refetch()} />;
  if (!role) return <RowSkeletons columns={[30, 300]} />;
  const tab = SETTINGS_TABS.find(({ needs }) => role.permissions.includes(needs)) ?? SETTINGS_TABS[0];
  return <Navigate to={tab.to} replace />;
}
